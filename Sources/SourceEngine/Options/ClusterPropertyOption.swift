// SPDX-License-Identifier: MIT
import Aggregates
import JSON

/// One aggregated property, with its JSON for descriptions.
public struct ClusterPropertyOption: Sendable {
    public let name: String
    public let source: JSONValue
    public let property: ClusterProperty
}

// SPDX-License-Identifier: MIT
import Expressions
import JSON

/// A compiled expression of an option, with its JSON for descriptions.
public struct CompiledOption: Sendable {
    public let source: JSONValue
    public let expression: Expression
}

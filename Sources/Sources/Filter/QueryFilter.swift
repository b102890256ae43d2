// SPDX-License-Identifier: MIT
import Aggregates
import JSON
import SourceStorage
import SystemSupport

/// The filter of a query, known by its text: it is compiled only where no view of it is at hand.
public struct QueryFilter: Sendable {
    package let source: JSONValue
    /// The filter's text, by which its views are found again.
    package let text: [UInt8]
    /// Whether the features that pass may differ from zoom to zoom.
    package let mentionsZoom: Bool

    public init(_ value: JSONValue) {
        source = value
        var writer = ByteWriter()
        writer.append(value)
        text = writer.withUnsafeBytes { Array($0) }
        mentionsZoom = Self.mentionsZoom(value)
    }

    /// If a literal only looks like `["zoom"]`, the answer is yes too; that costs at most one view a
    /// zoom.
    private static func mentionsZoom(_ value: JSONValue) -> Bool {
        switch value {
        case .array(let items):
            if items.count == 1, case .string(let name) = items[0], name == "zoom" { return true }
            return items.contains(where: mentionsZoom)
        case .object(let object): return object.members.contains { mentionsZoom($0.value) }
        default: return false
        }
    }
}

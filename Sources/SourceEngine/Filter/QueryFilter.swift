// SPDX-License-Identifier: MIT
import JSON

/// The filter of a query, identified by its text. It is compiled only if no view of it is cached.
public struct QueryFilter: Sendable {
    package let source: JSONValue
    /// The filter's text, the key of its cached views.
    package let text: [UInt8]
    /// Whether the features that pass may differ from zoom to zoom.
    public let mentionsZoom: Bool

    public init(_ value: JSONValue) {
        source = value
        var writer = ByteWriter()
        writer.append(value)
        text = writer.withUnsafeBytes { Array($0) }
        mentionsZoom = Self.mentionsZoom(value)
    }

    /// A literal that looks like `["zoom"]` also counts. That costs at most one view for each
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

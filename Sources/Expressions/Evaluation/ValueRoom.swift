// SPDX-License-Identifier: MIT
import JSON

/// The memory that the values which an expression makes for many rows may take together.
package struct ValueRoom: Sendable {
    private let bytes: Int
    private var left: Int

    /// - Parameter rows: how many rows or clusters get a value.
    package init(rows: Int) {
        bytes = ExpressionLimits.valueBytes(rows: rows)
        left = bytes
    }

    /// Throws if a value does not fit beside the earlier ones.
    package mutating func take(_ value: JSONValue) throws(EvaluationError) {
        let count = value.contentBytes
        guard count <= left else {
            throw EvaluationError(
                "The values of an expression may have \(bytes) bytes together; the remaining ones are null.")
        }
        left -= count
    }
}

extension JSONValue {
    /// The approximate size of its text, elements and members in bytes; 0 for numbers, booleans and null.
    fileprivate var contentBytes: Int {
        let one = MemoryLayout<JSONValue>.stride
        return switch self {
        case .null, .bool, .number: 0
        case .string(let text): text.utf8.count
        case .array(let items): items.reduce(0) { $0 + one + $1.contentBytes }
        case .object(let object):
            object.members.reduce(0) { $0 + one + $1.key.utf8.count + $1.value.contentBytes }
        }
    }
}

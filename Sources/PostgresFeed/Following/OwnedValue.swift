// SPDX-License-Identifier: MIT

/// A column's value that outlives the message that contained it.
enum OwnedValue: Sendable, Equatable {
    case null
    case unchanged
    case text([UInt8])

    init(_ value: RowValue) {
        switch value {
        case .null: self = .null
        case .unchanged: self = .unchanged
        case .text(let text): self = .text(Array(text))
        }
    }

    var count: Int { if case .text(let text) = self { text.count } else { 0 } }

    /// Calls `body` with the values as a row, which is valid during the call.
    static func withRow<Result>(
        _ values: [OwnedValue],
        _ body: ([RowValue]) throws(PostgresDataError) -> Result
    ) throws(PostgresDataError) -> Result {
        // All texts are in one buffer, so that their slices are valid together.
        var bytes: [UInt8] = []
        for case .text(let text) in values { bytes += text }
        return try bytes.withBytes { (bytes) throws(PostgresDataError) in
            var offset = 0
            let row = values.map { value -> RowValue in
                switch value {
                case .null: return .null
                case .unchanged: return .unchanged
                case .text(let text):
                    defer { offset += text.count }
                    return .text(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + text.count]))
                }
            }
            return try body(row)
        }
    }
}

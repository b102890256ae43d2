// SPDX-License-Identifier: MIT
import Expressions
import Synchronization

/// Counts the memory of columns while several threads fill them. Safe from any thread.
final class ColumnGrowth: Sendable {
    private let claim: MemoryClaim?
    private let cellBytes: Int
    private let state = Mutex<(valueBytes: Int, refusal: SourceError?)>((0, nil))

    /// After so many bytes of features' text the strings of the columns are counted again.
    static let step = 1 << 20

    /// - Parameters:
    ///   - claim: nil if nothing is counted.
    ///   - rows: of all columns together.
    init(_ claim: MemoryClaim?, rows: Int) {
        self.claim = claim
        cellBytes = rows * PropertyCells.bytesOfRow
    }

    /// Counts bytes of strings and other values. Throws if there is no room, then and from then on.
    func add(_ more: Int) throws(SourceError) {
        guard let claim else { return }
        let result = state.withLock { state -> Result<Void, SourceError> in
            if let refusal = state.refusal { return .failure(refusal) }
            state.valueBytes += more
            return Result { () throws(SourceError) in
                // The values of the parts are joined in the end, so they exist twice.
                try claim.grow(to: cellBytes + 2 * state.valueBytes)
            }.mapError { refusal in
                state.refusal = refusal
                return refusal
            }
        }
        try result.get()
    }

    /// Throws if there was no room.
    func check() throws(SourceError) {
        if let refusal = state.withLock({ $0.refusal }) { throw refusal }
    }
}

// SPDX-License-Identifier: MIT
import GeoJSON
import Synchronization

/// Pieces of an import that several threads read at the same time. Each has a number, and they are admitted in the order of
/// their numbers.
final class ImportPieces: Sendable {
    private let state = Mutex(State())

    /// Invariant: a piece is used by the thread that took it from `idle`, or is parked until one thread takes it. That
    /// is why it may be sent.
    private struct State: @unchecked Sendable {
        var idle: [FeaturePiece] = []
        /// The number of the next piece to admit.
        var next = 0
        var parked: [Int: FeaturePiece] = [:]
        /// Whether a thread is admitting pieces.
        var isAdmitting = false
    }

    /// An empty piece.
    func take(or make: () -> FeaturePiece?) -> FeaturePiece? {
        state.withLock { $0.idle.popLast() } ?? make()
    }

    /// Parks a piece that has been read. The admitting thread, or else the caller, takes it when it is next.
    func park(_ piece: FeaturePiece, _ number: Int) { state.withLock { $0.parked[number] = piece } }

    /// The next piece; nil if it has not been read yet, or another thread is admitting.
    func beginAdmission() -> FeaturePiece? {
        state.withLock { state in
            guard !state.isAdmitting, let piece = state.parked.removeValue(forKey: state.next) else {
                return nil
            }
            state.isAdmitting = true
            state.next += 1
            return piece
        }
    }

    /// The number of pieces admitted or rejected.
    var admitted: Int { state.withLock { $0.next } }

    func endAdmission() { state.withLock { $0.isAdmitting = false } }

    /// Returns a piece for reuse.
    func giveBack(_ piece: FeaturePiece) {
        piece.removeAll()
        state.withLock { $0.idle.append(piece) }
    }
}

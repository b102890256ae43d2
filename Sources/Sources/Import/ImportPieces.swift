// SPDX-License-Identifier: MIT
import GeoJSON
import Synchronization

/// Pieces of an import that several threads read at the same time, each with a number; they are admitted in the order of
/// their numbers.
final class ImportPieces: Sendable {
    private let state = Mutex(State())

    /// Invariant: a piece is used by the thread that took it out of `idle`, or is parked, whence one thread takes it. That
    /// is why it may be sent.
    private struct State: @unchecked Sendable {
        var idle: [FeaturePiece] = []
        /// The piece to be admitted next.
        var next = 0
        var parked: [Int: FeaturePiece] = [:]
        /// Whether a thread is admitting pieces.
        var isAdmitting = false
    }

    /// An empty piece.
    func take(or make: () -> FeaturePiece?) -> FeaturePiece? {
        state.withLock { $0.idle.popLast() } ?? make()
    }

    /// Parks a piece that is read. Whoever is admitting, or else the caller, goes on with it when it is its turn.
    func park(_ piece: FeaturePiece, _ number: Int) { state.withLock { $0.parked[number] = piece } }

    /// The piece whose turn it is; nil if it is not read yet, or another thread is admitting.
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

    /// How many were admitted, or refused.
    var admitted: Int { state.withLock { $0.next } }

    func endAdmission() { state.withLock { $0.isAdmitting = false } }

    /// Gives a piece back.
    func giveBack(_ piece: FeaturePiece) {
        piece.removeAll()
        state.withLock { $0.idle.append(piece) }
    }
}

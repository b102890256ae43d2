// SPDX-License-Identifier: MIT

/// Numbers the lines of consecutive pieces.
struct PieceLines {
    private var next = 1

    /// The line of the first byte of the next piece, from 1.
    ///
    /// - Parameter piece: after `join`.
    mutating func first(of piece: PieceText) -> Int {
        let first = next + piece.linesBefore
        next = first + piece.lines
        return first
    }
}

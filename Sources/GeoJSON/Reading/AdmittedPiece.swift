// SPDX-License-Identifier: MIT

/// A piece with space reserved in a builder.
public struct AdmittedPiece {
    let rows: GatheredRows
    let part: GatheredRows.Reservation
    public let piece: FeaturePiece

    public func fill() { rows.fill(part, from: piece.result) }
}

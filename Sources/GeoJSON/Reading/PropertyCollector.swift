// SPDX-License-Identifier: MIT

/// Reads features' properties during parsing, when their values are available.
///
/// Each piece is filled by one thread; the collector receives pieces in the features' order. Used by one
/// thread at a time, the one that uses the builder.
public protocol PropertyCollector: AnyObject, Sendable {
    /// The memory held, in bytes.
    var memoryBytes: Int { get }

    func makePiece() -> any PropertyPiece

    /// Appends a piece's features. The piece must be one that this collector has made.
    func take(_ piece: any PropertyPiece)
}

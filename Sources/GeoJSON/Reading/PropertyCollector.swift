// SPDX-License-Identifier: MIT
import JSON

/// Looks at features' properties while they are read, when their values are at hand.
///
/// Pieces are filled by threads of their own; a collector takes them over in the features' order. Used by one thread
/// at a time, that which uses the builder.
public protocol PropertyCollector: AnyObject, Sendable {
    /// What is held by now, in bytes.
    var memoryBytes: Int { get }

    func makePiece() -> any PropertyPiece

    /// Takes over a piece's features behind those of before; the piece is one that this collector has made.
    func take(_ piece: any PropertyPiece)
}

/// The properties of some features that follow each other. Used by one thread at a time.
public protocol PropertyPiece: AnyObject {
    /// - Parameter properties: of the next good feature: an object or null; valid during the call only.
    func add(_ properties: JSONElement)

    /// The same of a table's row.
    func add(_ row: TableRow)

    /// Forgets all features.
    func removeAll()
}

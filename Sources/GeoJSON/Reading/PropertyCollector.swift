// SPDX-License-Identifier: MIT
import JSON

/// Reads features' properties during parsing, when their values are available.
///
/// Pieces are filled by threads of their own; a collector takes them over in the features' order. Used by one thread
/// at a time, that which uses the builder.
public protocol PropertyCollector: AnyObject, Sendable {
    /// What is held by now, in bytes.
    var memoryBytes: Int { get }

    func makePiece() -> any PropertyPiece

    /// Appends a piece's features; the piece is one that this collector has made.
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

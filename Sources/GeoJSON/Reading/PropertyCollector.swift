// SPDX-License-Identifier: MIT
import JSON

/// Reads features' properties during parsing, when their values are available.
///
/// Each piece is filled by one thread; the collector receives pieces in the features' order. Used by one thread
/// at a time, the one that uses the builder.
public protocol PropertyCollector: AnyObject, Sendable {
    /// The memory held, in bytes.
    var memoryBytes: Int { get }

    func makePiece() -> any PropertyPiece

    /// Appends a piece's features. The piece must be one that this collector has made.
    func take(_ piece: any PropertyPiece)
}

/// The properties of consecutive features. Used by one thread at a time.
public protocol PropertyPiece: AnyObject {
    /// - Parameter properties: the next valid feature's properties, an object or null. Valid only during the call.
    func add(_ properties: JSONElement)

    /// The same for a table's row.
    func add(_ row: TableRow)

    /// Removes all features.
    func removeAll()
}

// SPDX-License-Identifier: MIT
import JSON

/// The properties of consecutive features. Used by one thread at a time.
public protocol PropertyPiece: AnyObject {
    /// - Parameter properties: the next valid feature's properties, an object or null. Valid only during the
    ///   call.
    func add(_ properties: JSONElement)

    /// The same for a table's row.
    func add(_ row: TableRow)

    /// Removes all features.
    func removeAll()
}

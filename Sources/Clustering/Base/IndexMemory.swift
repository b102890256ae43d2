// SPDX-License-Identifier: MIT

/// Memory in which an index's columns lie and that others own, such as a file's image.
///
/// A column reads what was written, or, once `isDamaged` is true, any mixture of that and zeros.
public protocol IndexMemory: AnyObject, Sendable {
    /// Whether a part could not be read. Never becomes false again.
    var isDamaged: Bool { get }
    /// Whether reading the index does not wait for a disk.
    var isResident: Bool { get }
    /// Whether parts are taken from memory when that is short. If not, the index counts them as its own.
    var isEvictable: Bool { get }
    /// Lets the pages of some addresses in it be read from the disk side by side, because all are read next.
    func willRead(_ addresses: [UnsafeRawPointer])
}

extension IndexMemory {
    public func willRead(_ addresses: [UnsafeRawPointer]) {}
}

// SPDX-License-Identifier: MIT

/// Loads what queries of an index read, before they read it. Safe from any thread; may wait for a disk.
public protocol IndexLoader: AnyObject, Sendable {
    /// Loads some bytes of a section into the memory of the section; false if that is impossible, or if they are not what was written.
    func load(_ section: IndexSection, _ bytes: Range<Int>) -> Bool

    /// Loads what answers contain of a point besides the index; false if that is impossible.
    func load(_ point: PointIndex) -> Bool
}

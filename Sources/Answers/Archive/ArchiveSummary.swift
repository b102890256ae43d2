// SPDX-License-Identifier: MIT
import Sources

/// The finished archive.
public struct ArchiveSummary: Sendable, Equatable {
    public let tiles: Int
    /// The file's size.
    public let bytes: Int
    public let zooms: ClosedRange<Int>
    /// The extent of the points; nil without points.
    public let bounds: Box?
    public let revision: UInt64
}

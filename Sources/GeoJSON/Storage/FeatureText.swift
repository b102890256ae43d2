// SPDX-License-Identifier: MIT

/// Features' records, one after another, in a file.
///
/// Readers get copies. Safe from any thread; reading may wait for a disk.
public protocol FeatureText: AnyObject, Sendable {
    /// Bytes of all records.
    var count: Int { get }

    /// Bytes of memory that it holds.
    var memoryBytes: Int { get }

    /// Whether a read has failed or a checksum was wrong. Never becomes false again; results made from such
    /// bytes are wrong.
    var isDamaged: Bool { get }

    /// Whether reading does not wait for a disk.
    var isAtHand: Bool { get }

    /// Whether reading these bytes does not wait for a disk. May move them into memory from the system's page
    /// cache.
    ///
    /// - Parameter room: how many blocks may still be moved.
    func isAtHand(_ range: Range<Int>, room: inout Int) -> Bool

    /// Copies bytes; false if they cannot be read.
    func read(_ range: Range<Int>, into target: UnsafeMutableRawBufferPointer) -> Bool

    /// Reads many bytes, for sequential readers.
    ///
    /// - Parameters:
    ///   - window: at least `FeatureScan.windowSize` bytes, filled from its start.
    ///   - place: the first byte needed. The window may begin shortly before it.
    /// - Returns: the range of bytes in the window; nil if they cannot be read.
    func fill(_ window: UnsafeMutableRawBufferPointer, from place: Int) -> Range<Int>?

    /// Verifies all bytes. False if some cannot be read.
    ///
    /// - Parameters:
    ///   - demand: rises with each further use of the disk by others, beside their reads of this text, and
    ///     with each call while one lasts.
    ///   - pause: waits for a few milliseconds; called while others use the disk. Nil: without pauses.
    func verify(isCancelled: () -> Bool, demand: () -> Int, pause: (() -> Void)?) -> Bool
}

/// A file for features' text that is too long for memory, written while features are gathered.
public protocol TextSink: AnyObject, Sendable {
    /// Writes a part of the text. Safe from any thread. Parts must not overlap or leave gaps. After a failure the
    /// text cannot be read.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int)

    /// The complete text.
    ///
    /// - Parameter count: its size in bytes.
    func finish(count: Int) -> any FeatureText
}

/// When text goes to a file, and how the file is made.
public struct TextSpill: Sendable {
    /// The size from which text goes to a file, in bytes.
    let bytes: Int
    /// Nil if the file cannot be created. Then the text stays in memory.
    let make: @Sendable () -> (any TextSink)?

    public init(from bytes: Int, _ make: @escaping @Sendable () -> (any TextSink)?) {
        (self.bytes, self.make) = (bytes, make)
    }
}

// SPDX-License-Identifier: MIT

/// Features' records, one after another, in a file's image. Safe from any thread.
public protocol FeatureText: AnyObject, Sendable {
    /// All records. They are what was written, or, once `isDamaged` is true, any mixture of that and zeros.
    var bytes: UnsafeRawBufferPointer { get }

    /// Whether a part could not be read. Never becomes false again; results made from such bytes are wrong.
    var isDamaged: Bool { get }

    /// Whether parts are taken from memory when that is short, and read again from the file. If not, the
    /// bytes are in memory.
    var isEvictable: Bool { get }

    /// Whether reading some bytes, in the text or beside it, does not wait for a disk. May move them into memory from the
    /// system's page cache.
    ///
    /// - Parameter room: how many pages may still be moved.
    func isResident(_ part: UnsafeRawBufferPointer, room: inout Int) -> Bool

    /// Lets the pages of some addresses, in the text or beside it, be read from the disk side by side, because all
    /// are read next.
    func willRead(_ addresses: [UnsafeRawPointer])

    /// Copies many bytes past the memory of the image, for sequential readers.
    ///
    /// - Parameters:
    ///   - window: at least `FeatureScan.windowSize` bytes, filled from its start.
    ///   - offset: that of the first byte needed. The window may begin shortly before it.
    /// - Returns: the range of bytes in the window; nil if they cannot be read.
    func fill(_ window: UnsafeMutableRawBufferPointer, from offset: Int) -> Range<Int>?

    /// Verifies all bytes of the file. False if some cannot be read.
    ///
    /// - Parameter goesOn: called after each part of about a megabyte, and may wait. If false, the rest is not
    ///   verified.
    func verify(goesOn: () -> Bool) -> Bool
}

extension FeatureText {
    public func willRead(_ addresses: [UnsafeRawPointer]) {}
}

/// A file for features' text that is too long for memory, written while features are gathered.
public protocol TextSink: AnyObject, Sendable {
    /// Writes a part of the text. Safe from any thread. Parts must not overlap or leave gaps. After a failure
    /// the text cannot be read.
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

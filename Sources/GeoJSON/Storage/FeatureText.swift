// SPDX-License-Identifier: MIT

/// Features' records, one behind the other, that lie elsewhere than in memory: in a file.
///
/// Readers get copies. Safe from any thread; reading may wait for a disk.
public protocol FeatureText: AnyObject, Sendable {
    /// Bytes of all records.
    var count: Int { get }

    /// Bytes of memory that it holds.
    var memoryBytes: Int { get }

    /// Whether bytes that were asked for could not be had. Once true it stays so, and what was made of them is wrong.
    var isDamaged: Bool { get }

    /// Whether reading does not wait for a disk.
    var isAtHand: Bool { get }

    /// Copies bytes; false if they can't be had.
    func read(_ range: Range<Int>, into target: UnsafeMutableRawBufferPointer) -> Bool

    /// Reads many bytes, for who reads all of them.
    ///
    /// - Parameters:
    ///   - window: of at least `FeatureScan.windowSize` bytes; filled from its start.
    ///   - place: begins the bytes, or lies shortly behind their beginning.
    /// - Returns: which bytes it has now; nil if they can't be had.
    func fill(_ window: UnsafeMutableRawBufferPointer, from place: Int) -> Range<Int>?

    /// Checks all bytes. False if some can't be had.
    func verify(isCancelled: () -> Bool) -> Bool
}

// SPDX-License-Identifier: MIT

/// A file that features' text goes to while features are gathered, since it is too long for memory.
public protocol TextSink: AnyObject, Sendable {
    /// Writes a part of the text. Safe from any thread. Parts do not overlap, and in the end they leave no gap. A failure is
    /// kept: the text can't be had then.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int)

    /// The text once all is written.
    ///
    /// - Parameter count: its bytes.
    func finish(count: Int) -> any FeatureText
}

/// When text goes to a file, and how that is made.
public struct TextSpill: Sendable {
    /// Text of so many bytes does not stay in memory.
    let bytes: Int
    /// Nil if there is no file to be had: then the text stays in memory.
    let make: @Sendable () -> (any TextSink)?

    public init(from bytes: Int, _ make: @escaping @Sendable () -> (any TextSink)?) {
        (self.bytes, self.make) = (bytes, make)
    }
}

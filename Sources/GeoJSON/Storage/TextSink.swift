// SPDX-License-Identifier: MIT

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

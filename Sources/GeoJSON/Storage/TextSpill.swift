// SPDX-License-Identifier: MIT

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

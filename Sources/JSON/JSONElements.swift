// SPDX-License-Identifier: MIT

/// Iterates over the texts of a JSON array's elements.
public struct JSONElements: Sequence, IteratorProtocol {
    private var scanner: JSONMembers

    /// - Parameter array: the text of a JSON array, already validated, starting at its bracket. The
    ///   initialiser returns nil if it is not an array.
    public init?(ofValidated array: UnsafeRawBufferPointer) {
        guard array.first == UInt8(ascii: "[") else { return nil }
        scanner = JSONMembers(ofValidated: array)
    }

    public mutating func next() -> UnsafeRawBufferPointer? { scanner.nextElement() }
}

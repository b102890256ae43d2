// SPDX-License-Identifier: MIT
import Compression
import SystemSupport

/// The checksums of pieces of some sections, so that a reader can check the part that it needs without reading the rest.
///
/// As a section, it has for each of these sections its name, the number of its pieces, and their checksums, 64 bits each. A section of
/// one piece is not among them: its checksum in the file's table is that of the piece.
package struct PieceChecksums: Sendable {
    /// The size of a piece in bytes. A section's last piece may be shorter.
    package static let pieceSize = 1 << 14

    package private(set) var values: [UInt64] = []

    package init() {}

    /// Adds a section. O(bytes), on several threads.
    package mutating func add(_ name: UInt32, _ bytes: UnsafeRawBufferPointer, threads: Int) {
        let count = Self.count(of: bytes.count)
        guard count > 1 else { return }
        values += [UInt64(name), UInt64(count)]
        values += Parallel(.shared, threads: threads).array(count: count) { piece in
            let end = min((piece + 1) * Self.pieceSize, bytes.count)
            return BlockChecksum.of(UnsafeRawBufferPointer(rebasing: bytes[piece * Self.pieceSize..<end]))
        }
    }

    /// The checksums by section; nil if the values are not a list of them.
    package static func read(_ values: [UInt64]) -> [UInt32: [UInt64]]? {
        var sections: [UInt32: [UInt64]] = [:]
        var rest = values[...]
        while let name = rest.popFirst() {
            guard let name = UInt32(exactly: name), let count = rest.popFirst(), count <= rest.count else {
                return nil
            }
            sections[name] = Array(rest.prefix(Int(count)))
            rest = rest.dropFirst(Int(count))
        }
        return sections
    }

    static func count(of bytes: Int) -> Int { (bytes + pieceSize - 1) / pieceSize }
}

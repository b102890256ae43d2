// SPDX-License-Identifier: MIT
import Compression
import JSON
import SystemSupport

/// What an archive shows, as `PublishTiles` has written it into the metadata.
package struct ArchiveOrigin: Sendable {
    /// The name of the source or the view; nil if the file is no archive of clusterd, or its metadata are too large.
    package private(set) var source: String?
    /// Identifies the part of the source to which the archive's publisher was restricted; nil: the whole.
    package private(set) var part: String?

    private static let headerSize = 127
    private static let mostMetadata = 4 << 20

    /// Blocks: call it only on pool threads.
    package init(of file: FileDescriptor) {
        guard let header = Self.read(Self.headerSize, at: 0, of: file) else { return }
        func number(at start: Int) -> Int {
            Int(clamping: header[start..<start + 8].reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
        }
        let (start, count) = (number(at: 24), number(at: 32))
        guard count <= Self.mostMetadata, var text = Self.read(count, at: start, of: file) else { return }
        if header[97] == 2 {
            guard let inflated = try? Zlib.inflate(text, format: .gzip, limit: 16 * Self.mostMetadata) else { return }
            text = inflated
        }
        guard case .object(let metadata)? = try? JSONReader.parse(text),
            case .object(let origin)? = metadata["clusterd"]
        else { return }
        if case .string(let name)? = origin["source"] { source = name }
        if case .string(let digest)? = origin["part"] { part = digest }
    }

    /// Nil if the file has fewer bytes.
    private static func read(_ count: Int, at offset: Int, of file: FileDescriptor) -> [UInt8]? {
        let bytes = try? FileIO.read(count, from: file, at: offset, path: "an archive")
        return bytes?.count == count ? bytes : nil
    }
}

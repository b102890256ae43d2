// SPDX-License-Identifier: MIT
import Glibc
import SystemSupport

/// An archive of tiles, opened for reading. Clients read the same file even if another takes its name meanwhile.
final class ServedArchive: Sendable {
    /// The size in bytes.
    let size: Int
    /// The validator, which changes with the file: an archive is written once and then replaced as a whole.
    let tag: EntityTag
    /// The time of the last modification, in seconds since 1970.
    let modified: Int
    private let file: FileDescriptor

    /// Nil if the file is not a PMTiles archive: nothing else below an export directory is served.
    init?(_ file: FileDescriptor) {
        var status = stat()
        guard fstat(file.number, &status) == 0 else { return nil }
        self.file = file
        size = Int(status.st_size)
        modified = status.st_mtim.tv_sec
        let moment =
            UInt64(bitPattern: Int64(status.st_mtim.tv_sec)) &* 1_000_000_000
            &+ UInt64(bitPattern: Int64(status.st_mtim.tv_nsec))
        tag = EntityTag(
            process: UInt64(status.st_dev) << 32 ^ UInt64(status.st_ino), revision: moment,
            request: UInt64(clamping: size))
        guard read(0..<min(size, Self.magic.count)) == Self.magic else { return nil }
    }

    private static let magic = Array("PMTiles".utf8)

    /// Reads a part. Returns nil if the file no longer contains all of it, or if the disk fails.
    ///
    /// Blocks: call it only on pool threads.
    func read(_ range: Range<Int>) -> [UInt8]? {
        guard
            let bytes = try? FileIO.read(range.count, from: file, at: range.lowerBound, path: "an archive")
        else { return nil }
        return bytes.count == range.count ? bytes : nil
    }
}

// SPDX-License-Identifier: MIT
import Compression
import SystemSupport

/// Compresses the directories and the metadata of an archive, as small as gzip can.
///
/// An archive may have thousands of directories, which take long at that level. So it checks for cancellation before each
/// directory, and after every 256 KiB of a long one.
struct DirectoryCompressor: ~Copyable {
    private var stream: DeflateStream
    private let cancellation: Cancellation

    init(_ cancellation: Cancellation) throws(ArchiveError) {
        do throws(CompressionError) { stream = try DeflateStream(format: .gzip, level: 9) } catch {
            throw .outOfMemory
        }
        self.cancellation = cancellation
    }

    mutating func compress(_ bytes: [UInt8]) throws(ArchiveError) -> [UInt8] {
        if cancellation.isCancelled { throw .cancelled }
        var output: [UInt8] = []
        let isWhole: Bool
        do {
            isWhole = try bytes.withUnsafeBytes { (bytes) throws(CompressionError) in
                try stream.compress(bytes, appendingTo: &output) { cancellation.isCancelled }
            }
        } catch { throw .outOfMemory }
        guard isWhole else { throw .cancelled }
        return output
    }
}

// SPDX-License-Identifier: MIT
import Compression
import Synchronization
import SystemSupport

/// The checksums of a file's pages, computed from what is written to it. Safe from any thread, as long as
/// parts do not overlap.
///
/// Bytes that nobody writes are zeros, as they are in the file.
final class PageSums: Sendable {
    private struct State {
        var sums: [Int: UInt64] = [:]
        /// Pages of which only a part was written by one call.
        var partial: [Int: [UInt8]] = [:]
    }

    private let state = Mutex(State())
    private static var pageSize: Int { SourceImage.pageSize }

    /// Adds bytes that are written at an offset of the file. O(bytes), on several threads if they are many.
    func add(_ bytes: UnsafeRawBufferPointer, at offset: Int, threads: Int) {
        let size = Self.pageSize
        let end = offset + bytes.count
        let pages = (offset + size - 1) / size..<max((offset + size - 1) / size, end / size)
        nonisolated(unsafe) let bytes = bytes
        if !pages.isEmpty {
            let sums = Parallel(.shared, threads: threads).array(count: pages.count) { index in
                let start = (pages.lowerBound + index) * size - offset
                return BlockChecksum.of(UnsafeRawBufferPointer(rebasing: bytes[start..<start + size]).bytes)
            }
            state.withLock {
                for (index, sum) in sums.enumerated() { $0.sums[pages.lowerBound + index] = sum }
            }
        }
        if offset < min(end, pages.lowerBound * size) {
            addPart(bytes, 0..<min(end, pages.lowerBound * size) - offset, at: offset)
        }
        if pages.upperBound * size < end, pages.upperBound >= pages.lowerBound,
            pages.upperBound * size >= offset
        {
            addPart(bytes, pages.upperBound * size - offset..<bytes.count, at: offset)
        }
    }

    private func addPart(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, at offset: Int) {
        let page = (offset + range.lowerBound) / Self.pageSize
        let start = offset + range.lowerBound - page * Self.pageSize
        state.withLock { state in
            state.partial[page, default: [UInt8](repeating: 0, count: Self.pageSize)]
                .replaceSubrange(start..<start + range.count, with: bytes[range])
        }
    }

    /// The checksums of the pages of a file of `size` bytes. The last page is as long as the file.
    func list(size: Int) -> [UInt64] {
        state.withLock { state in
            (0..<(size + Self.pageSize - 1) / Self.pageSize).map { page in
                if let sum = state.sums[page] { return sum }
                let bytes = state.partial[page] ?? [UInt8](repeating: 0, count: Self.pageSize)
                let length = min(Self.pageSize, size - page * Self.pageSize)
                return BlockChecksum.of(bytes.span.bytes.extracting(first: length))
            }
        }
    }
}

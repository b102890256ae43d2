// SPDX-License-Identifier: MIT
import Glibc
import JSON

/// A part of a file that one thread reads and scans while others read other parts.
///
/// A class, so that its text has one owner and is changed without a copy. Only the thread that asked for it
/// uses it, so it may be sent.
final class FileWindow: @unchecked Sendable {
    /// Its index among the file's windows. Windows are cut in this order.
    let number: Int
    private let descriptor: Int32
    private let offset: Int
    private let size: Int
    /// Whether to scan it before its turn to be cut.
    private let isScanned: Bool

    /// The file's bytes, after `read`.
    private(set) var text: [UInt8]
    /// Nil if it is scanned when it is cut.
    private(set) var scan: JSONMiddleScan?
    /// The system's error number, if the file could not be read.
    private(set) var failure: Int32?

    /// The windows of a file, to be read from any thread.
    struct Sequence {
        let descriptor: Int32
        let start: Int
        /// The size of a window in bytes.
        let size: Int
        private var count = 0

        /// - Parameter size: the size of a window in bytes.
        /// - Returns: nil if the system reads this kind of file only in one go. The windows begin at its
        ///   current offset.
        init?(of descriptor: Int32, size: Int) {
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            start = lseek(descriptor, 0, SEEK_CUR)
            guard start >= 0 else { return nil }
            (self.descriptor, self.size) = (descriptor, size)
        }

        /// - Parameters:
        ///   - isScanned: whether to scan it before its turn to be cut.
        ///   - buffer: memory for its text.
        mutating func next(isScanned: Bool, reusing buffer: consuming [UInt8]) -> FileWindow {
            defer { count += 1 }
            return FileWindow(
                number: count, descriptor: descriptor, offset: start + count * size, size: size,
                isScanned: isScanned, text: buffer)
        }
    }

    private init(
        number: Int, descriptor: Int32, offset: Int, size: Int, isScanned: Bool, text: consuming [UInt8]
    ) {
        (self.number, self.descriptor, self.offset) = (number, descriptor, offset)
        (self.size, self.isScanned) = (size, isScanned)
        self.text = text
    }

    /// Whether the file ends within or before it.
    var isLast: Bool { text.count < size }

    /// Returns the text. It is empty afterwards.
    func takeText() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &text)
        return taken
    }

    /// Reads the text. O(bytes).
    func read() {
        text.reserveCapacity(size + size / 8)
        if text.count < size { text.append(contentsOf: repeatElement(0, count: size - text.count)) }
        var (count, failure) = (0, Int32?.none)
        text.withUnsafeMutableBytes { bytes in
            while count < size, failure == nil {
                let more = pread(
                    descriptor, bytes.baseAddress.map { $0 + count }, size - count, off_t(offset + count))
                if more < 0, errno != EINTR { failure = errno }
                if more == 0 { break }
                count += max(0, more)
            }
        }
        text.removeLast(text.count - count)
        self.failure = failure
        if isScanned { scan = text.withUnsafeBytes { JSONMiddleScan($0) } }
    }
}

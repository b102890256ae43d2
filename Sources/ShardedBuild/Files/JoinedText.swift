// SPDX-License-Identifier: MIT
import Glibc
import SystemSupport

/// Writes the features' text piece by piece to where it lies in the image, over several builds: one that goes on writes only
/// what was not synced.
final class JoinedText {
    private let path: String
    private let file: FileDescriptor
    private let bytes: Int
    private var sum = StreamChecksum()
    /// The bytes that are summed are those before this offset, but for the last few.
    private var summed = 0
    /// Fewer than 8 bytes.
    private var unsummed: [UInt8] = []

    /// - Parameters:
    ///   - path: that of the image to be, which may have more than the text.
    ///   - bytes: the text's size.
    init(_ path: String, bytes: Int) throws(BuildError) {
        (self.path, self.bytes) = (path, bytes)
        file = try onDisk(try FileIO.open(path, O_RDWR | O_CREAT))
    }

    func write(_ piece: UnsafeRawBufferPointer, at offset: Int) throws(BuildError) {
        try onDisk(try FileIO.write(piece, to: file, at: ImageFile.textStart + offset, path: path))
        if offset == summed { add(piece) }
    }

    func sync() throws(BuildError) { try onDisk(try FileIO.sync(file, path: path)) }

    /// The text's checksum, when all is on the disk.
    func finish() throws(BuildError) -> UInt64 {
        if summed < bytes { try sumAll() }
        unsummed.withUnsafeBytes { sum.add($0) }
        try sync()
        return sum.value
    }

    /// Sums what earlier builds have written too.
    private func sumAll() throws(BuildError) {
        (sum, summed, unsummed) = (StreamChecksum(), 0, [])
        while summed < bytes {
            let size = min(1 << 20, bytes - summed)
            let piece = try onDisk(try FileIO.read(size, from: file, at: ImageFile.textStart + summed, path: path))
            guard piece.count == size else { throw BuildError("\(path) is cut short; build again without --resume") }
            piece.withUnsafeBytes { add($0) }
        }
    }

    /// A checksum's pieces but the last are a multiple of 8 bytes long.
    private func add(_ piece: UnsafeRawBufferPointer) {
        summed += piece.count
        var rest = piece[...]
        if !unsummed.isEmpty {
            let first = rest.prefix(8 - unsummed.count)
            unsummed += first
            rest = rest.dropFirst(first.count)
            guard unsummed.count == 8 else { return }
            unsummed.withUnsafeBytes { sum.add($0) }
        }
        let whole = rest.prefix(rest.count & ~7)
        sum.add(UnsafeRawBufferPointer(rebasing: whole))
        unsummed = Array(rest.dropFirst(whole.count))
    }
}

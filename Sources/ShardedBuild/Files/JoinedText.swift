// SPDX-License-Identifier: MIT
import Glibc
import SystemSupport

/// Writes the features' text piece by piece to where it lies in the image. Safe from any thread.
final class JoinedText: Sendable {
    private let path: String
    private let file: FileDescriptor
    private let bytes: Int

    /// - Parameters:
    ///   - path: that of the image to be, which may have more than the text.
    ///   - bytes: the text's size.
    init(_ path: String, bytes: Int) throws(BuildError) {
        (self.path, self.bytes) = (path, bytes)
        file = try onDisk(try FileIO.open(path, O_RDWR | O_CREAT))
    }

    func write(_ piece: UnsafeRawBufferPointer, at offset: Int) throws(BuildError) {
        try onDisk(try FileIO.write(piece, to: file, at: ImageFile.textStart + offset, path: path))
    }

    func sync() throws(BuildError) { try onDisk(try FileIO.sync(file, path: path)) }

    /// The checksum of all text, which is read again.
    func checksum() throws(BuildError) -> UInt64 {
        var sum = StreamChecksum()
        // A checksum's pieces but the last are a multiple of 8 bytes long.
        for offset in stride(from: 0, to: bytes, by: 1 << 20) {
            let size = min(1 << 20, bytes - offset)
            let piece = try onDisk(try FileIO.read(size, from: file, at: ImageFile.textStart + offset, path: path))
            guard piece.count == size else { throw BuildError("\(path) is cut short; build again without --resume") }
            piece.withUnsafeBytes { sum.add($0) }
        }
        return sum.value
    }
}

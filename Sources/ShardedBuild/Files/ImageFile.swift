// SPDX-License-Identifier: MIT
import GeoJSON
import Glibc
import ImageStore
import JSON
import SourceEngine
import SystemSupport

/// The image to be, which has the features' text before it has anything else.
struct ImageFile {
    /// Where the text begins in the file.
    static let textStart = SourceImage.pageSize

    private let files: BuildFiles

    init(_ files: BuildFiles) { self.files = files }

    /// What is known of the text when it is complete.
    struct Text {
        var bytes: Int
        var checksum: UInt64

        func write(to path: String) throws(BuildError) {
            let json: JSONValue = .object([
                "bytes": .number(Double(bytes)), "checksum": .string(String(checksum, radix: 16)),
            ])
            try BuildFiles.write(json, to: path)
        }

        init(bytes: Int, checksum: UInt64) { (self.bytes, self.checksum) = (bytes, checksum) }

        init(from path: String) throws(BuildError) {
            guard case .object(let object)? = try BuildFiles.value(path), case .number(let number)? = object["bytes"],
                case .string(let digits)? = object["checksum"], let bytes = Int(exactly: number),
                let checksum = UInt64(digits, radix: 16)
            else { throw BuildError("\(path) is missing or of another build; build again without --resume") }
            (self.bytes, self.checksum) = (bytes, checksum)
        }
    }

    /// The text, compared with its checksum.
    ///
    /// - Parameter owners: what it keeps alive.
    func text(_ owners: Owners) throws(BuildError) -> any FeatureText {
        let known = try Text(from: files.text)
        let text = try MappedText(files.image, bytes: known.bytes, owners)
        var sum = StreamChecksum()
        sum.add(text.bytes)
        guard sum.value == known.checksum else {
            throw BuildError("\(files.image) is damaged: its text's checksum differs; build again without --resume")
        }
        return text
    }
}

/// Features' text at the beginning of an image to be. Keeps the arrays beside it alive too.
///
/// Invariant: nobody writes the mapping's bytes.
private final class MappedText: FeatureText, SnapshotBeginning, @unchecked Sendable {
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: mapping.bytes[ImageFile.textStart...]) }
    private let path: String
    private let mapping: MappedFile
    // Nothing reads them.
    private let owners: Owners

    init(_ path: String, bytes count: Int, _ owners: Owners) throws(BuildError) {
        (self.path, self.owners) = (path, owners)
        mapping = try MappedFile(path, bytes: ImageFile.textStart + count)
    }

    var isDamaged: Bool { false }
    var isEvictable: Bool { false }
    func isResident(_ part: UnsafeRawBufferPointer, room: inout Int) -> Bool { true }
    func fill(_ window: UnsafeMutableRawBufferPointer, from offset: Int) -> Range<Int>? { nil }
    func verify(goesOn: () -> Bool) -> Bool { true }

    func begin(_ path: String, threads: Int) throws(FileError) -> SectionFileWriter? {
        path == self.path ? try SectionFileWriter(path, after: bytes, threads: threads) : nil
    }
}

/// The beginning of a file, mapped into memory, where it takes no memory of the process's own.
///
/// Invariant: `bytes` is a mapping that exists until `deinit`.
final class MappedFile: @unchecked Sendable {
    let bytes: UnsafeRawBufferPointer

    init(_ path: String, bytes size: Int) throws(BuildError) {
        let file = try onDisk(try FileIO.open(path, O_RDONLY))
        guard file.size >= size else { throw BuildError("\(path) is cut short; build again without --resume") }
        let memory = mmap(nil, max(1, size), PROT_READ, MAP_SHARED, file.number, 0)
        guard let memory, memory != MAP_FAILED else { throw BuildError(FileIO.failure(errno, "map", path)) }
        madvise(memory, size, Int32(MADV_SEQUENTIAL))
        bytes = UnsafeRawBufferPointer(start: memory, count: size)
    }

    deinit { munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), max(1, bytes.count)) }
}

/// Keeps several objects alive.
final class Owners: @unchecked Sendable {
    // Nothing reads them.
    private let objects: [AnyObject]
    init(_ objects: [AnyObject]) { self.objects = objects }
}

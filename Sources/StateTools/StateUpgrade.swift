// SPDX-License-Identifier: MIT
import Clustering
import Compression
import GeoJSON
import Glibc
import JSON
import ImageStore
import SourceEngine
import SystemSupport

/// Converts a state directory of release 0.2.0 to the current format. No daemon may use it.
///
/// The arrays of a snapshot keep their contents, so clusters keep their ids and journals go on. The old files
/// are kept.
public enum StateUpgrade {
    /// - Returns: the files that were converted; empty if all were of the current format.
    /// - Throws: at the first file that cannot be converted. It is unchanged then; those before are
    ///   converted.
    /// - Complexity: O(bytes).
    public static func run(_ directory: String) throws(StateToolError) -> [String] {
        let state: StateDirectory
        do throws(StateDirectory.Problem) { state = try StateDirectory(directory) } catch {
            throw StateToolError(error.description)
        }
        defer { withExtendedLifetime(state) {} }
        var converted: [String] = []
        for source in try StateCheck.sources(in: directory) {
            let folder = "\(directory)/sources/\(source)"
            for name in try onDisk(try FileIO.names(in: folder)).sorted() {
                guard SourceFiles.read(name)?.kind == .snapshot else { continue }
                let path = folder + "/" + name
                do throws(StateFault) {
                    guard let old = try OldSnapshot(path) else { continue }
                    try old.write(to: folder + "/" + SourceFiles.temporaryPrefix + name)
                } catch { throw StateToolError(error.message) }
                try replace(name, of: source, in: directory)
                converted.append("sources/\(source)/\(name)")
            }
        }
        return converted
    }

    /// The folder of the old files.
    public static let keptFolder = "before-upgrade"

    /// Keeps the old files, and gives the new one its name.
    private static func replace(_ name: String, of source: String, in directory: String)
        throws(StateToolError)
    {
        let (folder, kept) = ("\(directory)/sources/\(source)", "\(directory)/\(keptFolder)/\(source)")
        try onDisk(try FileIO.makeDirectory("\(directory)/\(keptFolder)"))
        try onDisk(try FileIO.makeDirectory(kept))
        for other in try onDisk(try FileIO.names(in: folder))
        where !FileIO.exists(kept + "/" + other) && !other.hasPrefix(SourceFiles.temporaryPrefix) {
            let (old, copy) = (folder + "/" + other, kept + "/" + other)
            if other == name {
                guard link(old, copy) == 0 else {
                    throw StateToolError(FileIO.failure(errno, "keep", old).description)
                }
            } else if other.hasSuffix(".journal") || other == "overview" {
                // Copied, since the daemon appends to journals.
                let image = try onDisk(try FileImage(loading: old))
                let file = try onDisk(try FileIO.create(copy))
                try onDisk(try FileIO.write(image.bytes, to: file, at: 0, path: copy))
                try onDisk(try FileIO.sync(file, path: copy))
            }
        }
        try onDisk(try FileIO.syncDirectory(kept))
        try onDisk(
            try FileIO.rename(folder + "/" + SourceFiles.temporaryPrefix + name, to: folder + "/" + name))
        FileIO.remove(folder + "/overview")
        try onDisk(try FileIO.syncDirectory(folder))
    }
}

/// A snapshot of format 2, whose sections have one checksum each. Features' text has one for each 64 KiB.
private struct OldSnapshot {
    let file: FileImage
    let generation: UInt64
    private var sections: [UInt32: Range<Int>] = [:]

    private static let textChecksums: UInt32 = 5
    private static let chunkSize = 1 << 16

    /// Loads and verifies a snapshot.
    ///
    /// - Returns: nil if it is of the current format.
    init?(_ path: String) throws(StateFault) {
        do throws(FileError) { file = try FileImage(loading: path) } catch { throw StateFault(error) }
        let bytes = file.bytes
        guard bytes.count >= SectionFile.headerSize,
            bytes.prefix(SectionFile.magic.count).elementsEqual(SectionFile.magic),
            SectionFile.headerChecksum(bytes) == bytes.loadUnaligned(fromByteOffset: 20, as: UInt32.self)
        else { throw StateFault("\(path) is damaged in its header") }
        let version = bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self)
        if version == SectionFile.Kind.snapshot.version { return nil }
        guard version == 2 else {
            throw StateFault(
                "\(path) has format version \(version); only state of release 0.2.0 can be converted")
        }
        generation = bytes.loadUnaligned(fromByteOffset: 48, as: UInt64.self)
        let count = Int(bytes.loadUnaligned(fromByteOffset: 24, as: UInt32.self))
        let start = Int(clamping: bytes.loadUnaligned(fromByteOffset: 32, as: UInt64.self))
        guard start <= bytes.count, bytes.count - start == count * SectionFile.entrySize,
            Zlib.crc32(UnsafeRawBufferPointer(rebasing: bytes[start...]))
                == bytes.loadUnaligned(fromByteOffset: 28, as: UInt32.self)
        else { throw StateFault("\(path) is cut short, or damaged in its table of sections") }
        for index in 0..<count {
            let entry = (0..<4).map {
                bytes.loadUnaligned(
                    fromByteOffset: start + index * SectionFile.entrySize + $0 * 8, as: UInt64.self)
            }
            let (name, offset, length) = (
                UInt32(clamping: entry[0]), Int(clamping: entry[2]), Int(clamping: entry[3])
            )
            guard offset <= start, length <= start - offset else {
                throw StateFault("\(path) has a section \(name) that lies outside of it")
            }
            sections[name] = offset..<offset + length
            guard name == SnapshotSection.text || BlockChecksum.of(self.bytes(name).bytes) == entry[1] else {
                throw StateFault(
                    "\(path) is damaged in its section \(name), bytes \(offset..<offset + length)")
            }
        }
        let text = self.bytes(SnapshotSection.text)
        let sums = BlockChecksum.list(of: text.bytes, blockSize: Self.chunkSize)
        guard sums.withUnsafeBytes({ $0.elementsEqual(self.bytes(Self.textChecksums)) }) else {
            throw StateFault("\(path) is damaged in its features")
        }
    }

    private func bytes(_ name: UInt32) -> UnsafeRawBufferPointer {
        sections[name].map { UnsafeRawBufferPointer(rebasing: file.bytes[$0]) }
            ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// Writes the same data in the current format.
    func write(to path: String) throws(StateFault) {
        defer { withExtendedLifetime(file) {} }
        let description = try SnapshotDescription(bytes(SnapshotSection.description), path: file.path)
        var index: [IndexSection: UnsafeRawBufferPointer] = [:]
        for section in IndexSection.allCases where sections[SnapshotSection.index(section)] != nil {
            index[section] = bytes(SnapshotSection.index(section))
        }
        do throws(any Error) {
            let built = try ClusterIndex.onSections(
                options: description.options.clustering, pointCount: description.points,
                memory: LoadedFile(file), sections: index)
            try write(description, built, to: path)
        } catch let error as IndexSectionError {
            throw StateFault("\(file.path), section \(error.section): \(error.message)")
        } catch let error as FileError {
            throw StateFault(error)
        } catch let error as StateFault {
            throw error
        } catch { throw StateFault("\(file.path): \(error)") }
    }

    private func write(
        _ description: SnapshotDescription, _ index: ClusterIndex, to path: String
    ) throws {
        let threads = AvailableProcessors.count
        let writer = try SectionFileWriter(path, threads: threads)
        try writer.add(SnapshotSection.text, bytes(SnapshotSection.text))
        try index.forEachSection { try writer.add(SnapshotSection.index($0), $1) }
        let copied = sections.keys.filter { name in
            // The others were checksums, belonged to what a start answered from, or are made again.
            ![
                SnapshotSection.text, Self.textChecksums, 6, 12, 13, SnapshotSection.identifiers,
                SnapshotSection.identifierKey,
            ].contains(name)
                && !(0x100..<0x300).contains(name) && name < 0x8000_0000
        }
        for name in copied.sorted() { try writer.add(name, bytes(name)) }
        let store = try FeatureStore.onSections(
            LoadedFile(file, bytes(SnapshotSection.text)), blockStarts: bytes(SnapshotSection.blockStarts),
            offsets: bytes(SnapshotSection.offsets))
        if description.options.clusterIds == .origin {
            _ = try FeatureCodes(store, threads: threads, .never).store(in: writer)
        }
        if description.options.sortKey != nil {
            let order = PointOrder(
                places: Array(bytes(SnapshotSection.sortedPlaces).bindMemory(to: UInt32.self)))
            try order.withArrays { try writer.add(SnapshotSection.sortedPoints, $1) }
        }
        try Snapshot.write(IdentifierIndex(store, threads: threads, .never), to: writer)
        try writer.finish(generation: generation)
    }
}

/// A file that is in memory and has been verified.
private final class LoadedFile: IndexMemory, FeatureText {
    private let file: FileImage
    nonisolated(unsafe) let bytes: UnsafeRawBufferPointer

    init(_ file: FileImage, _ bytes: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)) {
        (self.file, self.bytes) = (file, bytes)
    }

    var isDamaged: Bool { false }
    var isResident: Bool { true }
    var isEvictable: Bool { false }
    func isResident(_ range: Range<Int>, room: inout Int) -> Bool { true }
    func fill(_ window: UnsafeMutableRawBufferPointer, from place: Int) -> Range<Int>? { nil }
    func verify(isCancelled: () -> Bool, demand: () -> Int, pause: (() -> Void)?) -> Bool { true }
}

// SPDX-License-Identifier: MIT
import Compression
import Glibc
import SystemSupport

/// Writes a PMTiles archive tile by tile, in ascending order of their numbers.
///
/// Its memory does not grow with the archive. Tiles and directory entries go to files, and a table of fixed size
/// finds repeated tiles. The file begins with space for the header and the root directory. Tiles follow, then leaf
/// directories and metadata.
final class ArchiveWriter {
    private let file: UnnamedFile
    /// Holds directory entries in order until all are known.
    private let entryFile: UnnamedFile
    private var waitingTiles: [UInt8] = []
    private var waitingEntries: [ArchiveEntry] = []
    private var last: ArchiveEntry?
    private var repeats: [RepeatedTile?]
    private(set) var header = ArchiveHeader()
    /// Bytes of tiles passed to `append`.
    private var tileBytes: UInt64 = 0

    /// A stored content, found by its hash.
    private struct RepeatedTile {
        let hash: Int
        let offset: UInt64
        let length: UInt32
    }

    /// The size of the write buffer in bytes.
    private static let writeSize = 1 << 20
    /// The number of remembered contents. A newer one replaces an older one in the same slot.
    private static let repeatSlots = 1 << 16
    /// Contents above this size rarely repeat.
    private static let largestRepeat = 1 << 16
    /// The least number of entries in a leaf directory: about 10 KB compressed.
    private static let entriesPerLeaf = 4096

    init(for target: ArchiveTarget) throws(ArchiveError) {
        file = try onDisk(try UnnamedFile(in: target.directory, path: target.name))
        entryFile = try onDisk(try UnnamedFile(in: target.directory, path: target.name))
        repeats = Array(repeating: nil, count: Self.repeatSlots)
    }

    /// The file's size in bytes, valid after `finish`.
    var fileSize: Int { Int(header.metadata.offset + header.metadata.length) }

    /// Bytes written so far, without the space for the header.
    var byteCount: UInt64 { tileBytes }

    /// Appends a tile.
    ///
    /// - Parameters:
    ///   - id: greater than all earlier ones.
    ///   - hash: of the content: equal contents have equal hashes.
    func append(_ content: ArraySlice<UInt8>, id: UInt64, hash: Int) throws(ArchiveError) {
        header.addressedTiles += 1
        let (offset, isNew) = try store(content, hash)
        if isNew { header.tileContents += 1 }
        if var entry = last, entry.offset == offset, entry.length == content.count,
            entry.tileID + UInt64(entry.runLength) == id
        {
            entry.runLength += 1
            last = entry
            return
        }
        try endRun()
        last = ArchiveEntry(tileID: id, offset: offset, length: UInt32(clamping: content.count), runLength: 1)
    }

    /// The offset of a content, which is stored unless it already is.
    private func store(
        _ content: ArraySlice<UInt8>, _ hash: Int
    ) throws(ArchiveError) -> (offset: UInt64, isNew: Bool) {
        guard content.count <= UInt32.max else { throw .tooManyTiles }
        let slot = hash & (Self.repeatSlots - 1)
        if let known = repeats[slot], known.hash == hash, Int(known.length) == content.count,
            try isStored(content, at: known.offset)
        {
            return (known.offset, false)
        }
        let offset = tileBytes
        if content.count <= Self.largestRepeat {
            repeats[slot] = RepeatedTile(hash: hash, offset: offset, length: UInt32(content.count))
        }
        waitingTiles.append(contentsOf: content)
        tileBytes += UInt64(content.count)
        if waitingTiles.count >= Self.writeSize { try writeTiles() }
        return (offset, true)
    }

    /// Whether the stored content is the same. Equal hashes are no proof.
    private func isStored(_ content: ArraySlice<UInt8>, at offset: UInt64) throws(ArchiveError) -> Bool {
        let written = tileBytes - UInt64(waitingTiles.count)
        if offset >= written {
            let start = Int(offset - written)
            return waitingTiles[start..<start + content.count].elementsEqual(content)
        }
        let stored = try onDisk(try file.read(content.count, at: Int(Self.tileStart + offset)))
        return stored.elementsEqual(content)
    }

    private static let tileStart = UInt64(ArchiveHeader.firstRequest)

    private func writeTiles() throws(ArchiveError) {
        let start = Int(Self.tileStart + tileBytes) - waitingTiles.count
        try onDisk(try file.write(waitingTiles, at: start))
        waitingTiles.removeAll(keepingCapacity: true)
    }

    private func endRun() throws(ArchiveError) {
        guard let entry = last else { return }
        last = nil
        waitingEntries.append(entry)
        header.tileEntries += 1
        if waitingEntries.count * MemoryLayout<ArchiveEntry>.stride >= Self.writeSize { try writeEntries() }
    }

    private func writeEntries() throws(ArchiveError) {
        let stride = MemoryLayout<ArchiveEntry>.stride
        let first = Int(header.tileEntries) - waitingEntries.count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(waitingEntries.count * stride)
        for entry in waitingEntries { entry.write(into: &bytes) }
        try onDisk(try entryFile.write(bytes, at: first * stride))
        waitingEntries.removeAll(keepingCapacity: true)
    }

    /// Writes the directories, the metadata and the header. The file is then complete but still unnamed.
    ///
    /// - Parameters:
    ///   - cancellation: checked before each directory. If it is cancelled, the file must be discarded.
    ///   - complete: sets the zooms, the bounds and the compression of the header.
    func finish(
        metadata: [UInt8], _ cancellation: Cancellation, _ complete: (inout ArchiveHeader) -> Void
    ) throws(ArchiveError) {
        try endRun()
        try writeTiles()
        try writeEntries()
        complete(&header)
        header.tiles = ArchiveHeader.Section(offset: Self.tileStart, length: tileBytes)
        header.leaves.offset = Self.tileStart + tileBytes
        var compressor = try DirectoryCompressor(cancellation)
        let root = try writeDirectories(&compressor)
        header.root = ArchiveHeader.Section(offset: UInt64(ArchiveHeader.size), length: UInt64(root.count))
        let compressedMetadata = try compressor.compress(metadata)
        header.metadata = ArchiveHeader.Section(
            offset: header.leaves.offset + header.leaves.length, length: UInt64(compressedMetadata.count))
        try onDisk(try file.write(compressedMetadata, at: Int(header.metadata.offset)))
        // Discarded attempts with smaller leaf directories may have reached farther.
        try onDisk(try file.truncate(to: fileSize))
        try onDisk(try file.write(header.bytes + root, at: 0))
    }

    /// Syncs the finished file to disk.
    func synchronize() throws(ArchiveError) { try onDisk(try file.synchronize()) }

    /// Gives the finished file its name.
    func publish(as name: String, overwrite: Bool) throws(ArchiveError) {
        try onDisk(try file.publish(as: name, overwrite: overwrite))
    }

    // MARK: Directories

    /// Returns the root directory. Writes leaf directories if there are too many entries for the root alone.
    private func writeDirectories(_ compressor: inout DirectoryCompressor) throws(ArchiveError) -> [UInt8] {
        let room = ArchiveHeader.firstRequest - ArchiveHeader.size
        let count = Int(header.tileEntries)
        // More entries never fit, since each takes at least four bytes and compresses to about half.
        if count <= room {
            let root = try compressor.compress(ArchiveDirectory.serialize(try entries(0..<count)))
            if root.count <= room { return root }
        }
        var perLeaf = Self.entriesPerLeaf
        while perLeaf <= max(count, Self.entriesPerLeaf) {
            let root = try writeLeaves(perLeaf, &compressor)
            if root.count <= room { return root }
            perLeaf *= 2
        }
        throw .tooManyTiles
    }

    private func writeLeaves(_ perLeaf: Int, _ compressor: inout DirectoryCompressor) throws(ArchiveError) -> [UInt8] {
        var rootEntries: [ArchiveEntry] = []
        var offset: UInt64 = 0
        let count = Int(header.tileEntries)
        for start in stride(from: 0, to: count, by: perLeaf) {
            let entries = try entries(start..<min(count, start + perLeaf))
            let leaf = try compressor.compress(ArchiveDirectory.serialize(entries))
            try onDisk(try file.write(leaf, at: Int(header.leaves.offset + offset)))
            rootEntries.append(
                ArchiveEntry(tileID: entries[0].tileID, offset: offset, length: UInt32(leaf.count), runLength: 0))
            offset += UInt64(leaf.count)
        }
        header.leaves.length = offset
        return try compressor.compress(ArchiveDirectory.serialize(rootEntries))
    }

    private func entries(_ range: Range<Int>) throws(ArchiveError) -> [ArchiveEntry] {
        let stride = MemoryLayout<ArchiveEntry>.stride
        let bytes = try onDisk(try entryFile.read(range.count * stride, at: range.lowerBound * stride))
        return (0..<range.count).map {
            bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: $0 * stride, as: ArchiveEntry.self)
        }
    }
}

/// Evaluates an expression that works on files, and converts its errors to `ArchiveError`.
private func onDisk<Result>(_ body: @autoclosure () throws(FileError) -> Result) throws(ArchiveError) -> Result {
    do throws(FileError) { return try body() } catch { throw ArchiveError(error) }
}

extension ArchiveError {
    fileprivate init(_ error: FileError) {
        self =
            switch error {
            case _ where error.isOutOfSpace: .noSpace
            case .failed(_, let name, EEXIST): .fileExists(name)
            case .failed(_, let name, EISDIR): .isDirectory(name)
            case .failed, .unusable: .system(error)
            }
    }
}

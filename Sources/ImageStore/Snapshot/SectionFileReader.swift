// SPDX-License-Identifier: MIT
import Compression
import Glibc
import SystemSupport

/// The sections of a file, in its image.
package struct SectionFileReader: Sendable {
    package let image: SourceImage
    package let generation: UInt64
    private let sections: [UInt32: Range<Int>]

    package var path: String { image.path }

    /// How the pages of a file are read.
    package enum Pages {
        /// All now. A file that is damaged is an error.
        case whole
        /// When they are touched, if the file is of at least so many bytes.
        case onDemand(PageMemory, from: Int, text: UInt32)
    }

    /// Reads the header, the table and the checksums, and makes the image.
    ///
    /// - Parameters:
    ///   - file: the file if it is open already; nil to open it.
    ///   - replaceable: consecutive sections on pages of their own that can be made again from others.
    package init(
        _ path: String, file: FileDescriptor? = nil, _ pages: Pages, replaceable: [UInt32] = []
    ) throws(StateFault) {
        let opened = try OpenedSections(path, file)
        var memory: PageMemory?
        var text = 0..<0
        if case .onDemand(let shared, let least, let name) = pages, opened.end >= least {
            memory = shared
            text = opened.sections[name] ?? 0..<0
        }
        image = try SourceImage(
            opened.file, path: path, size: opened.end, checksums: opened.checksums, text: text,
            replaceable: opened.range(of: replaceable), memory: memory)
        (generation, sections) = (opened.generation, opened.sections)
    }

    /// A section's bytes, valid while `image` is alive; empty if there is no such section.
    package func bytes(_ name: UInt32) -> UnsafeRawBufferPointer {
        guard let section = sections[name] else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(rebasing: image.bytes[section])
    }

    /// Compares a section with its checksums; false if it must not be used. Only for replaceable sections.
    package func isIntact(_ name: UInt32) throws(StateFault) -> Bool {
        if !image.verify(sections[name] ?? 0..<0) { try checkIntact() }
        return !image.hasLost
    }

    /// Where a section begins in the file.
    package func offset(of name: UInt32) -> Int { sections[name]?.lowerBound ?? 0 }

    package func has(_ name: UInt32) -> Bool { sections[name] != nil }

    /// A section's values in the image.
    package func borrowed<Element: BitwiseCopyable & Sendable>(
        _ name: UInt32, of type: Element.Type = Element.self, count: Int? = nil
    ) throws(StateFault) -> SectionValues<Element> {
        let bytes = bytes(name)
        let stride = MemoryLayout<Element>.stride
        guard has(name), bytes.count % stride == 0, count.map({ $0 == bytes.count / stride }) ?? true else {
            throw StateFault("\(path) lacks section \(name), or it has a wrong size")
        }
        return SectionValues(bytes, of: image)
    }

    /// A copy of a section's values. For short sections: throws if the image is damaged.
    package func values<Element: BitwiseCopyable & Sendable>(
        _ name: UInt32, count: Int? = nil
    ) throws(StateFault) -> [Element] {
        let values: SectionValues<Element> = try borrowed(name, count: count)
        let copy = values.withValues { Array($0) }
        try checkIntact()
        return copy
    }

    /// Throws if a page that was read is damaged.
    package func checkIntact() throws(StateFault) {
        guard image.isDamaged else { return }
        if let failure = image.failure { throw StateFault(failure) }
        throw StateFault("\(path) is damaged")
    }
}

/// The header, table and checksums of a file of sections.
package struct OpenedSections {
    package let file: FileDescriptor
    package let generation: UInt64
    package let sections: [UInt32: Range<Int>]
    /// Of the pages before `end`.
    package let checksums: [UInt64]
    /// Where the last section ends.
    package let end: Int

    /// - Parameter known: the file if it is open already; nil to open it.
    package init(_ path: String, _ known: FileDescriptor? = nil) throws(StateFault) {
        let (file, size, header): (FileDescriptor, Int, [UInt8])
        do throws(FileError) {
            if let known { file = known } else { file = try FileIO.open(path, O_RDONLY | O_NONBLOCK) }
            size = file.size
            header = try FileIO.read(SectionFile.headerSize, from: file, at: 0, path: path)
        } catch { throw StateFault(error) }
        try SectionFile.checkStart(header, .snapshot, path)
        func offset(at offset: Int) -> Int {
            Int(exactly: SectionFile.number(at: offset, in: header) as UInt64) ?? -1
        }
        let count = Int(SectionFile.number(at: 24, in: header) as UInt32)
        let (start, end) = (offset(at: 32), offset(at: 56))
        guard offset(at: 40) == size, count <= SectionFile.mostSections, end >= SourceImage.pageSize,
            start >= end, start <= size, size - start == count * SectionFile.entrySize
        else { throw StateFault("\(path) is cut short or damaged: it has \(size) bytes") }
        let table = try Self.read(start..<size, of: file, path)
        guard SectionFile.checksum(table[...]) == SectionFile.number(at: 28, in: header) else {
            throw StateFault("\(path) is damaged in its table of sections")
        }
        var sections: [UInt32: Range<Int>] = [:]
        var sums: (range: Range<Int>, checksum: UInt64)?
        for index in 0..<count {
            let (name, checksum, range) = try Self.entry(index, of: table, within: start, path)
            if name == SectionFile.pageChecksums {
                sums = (range, checksum)
            } else if range.upperBound > end || sections.updateValue(range, forKey: name) != nil {
                throw StateFault("\(path) has a section \(name) twice, or where it cannot be")
            }
        }
        let pages = (end + SourceImage.pageSize - 1) / SourceImage.pageSize
        guard let sums, sums.range.count == pages * MemoryLayout<UInt64>.stride else {
            throw StateFault("\(path) lacks checksums of its pages")
        }
        let bytes = try Self.read(sums.range, of: file, path)
        guard bytes.withUnsafeBytes({ BlockChecksum.of($0) }) == sums.checksum else {
            throw StateFault("\(path) is damaged in the checksums of its pages, bytes \(sums.range)")
        }
        checksums = bytes.withUnsafeBytes { Array($0.bindMemory(to: UInt64.self)) }
        generation = SectionFile.number(at: 48, in: header)
        (self.file, self.sections, self.end) = (file, sections, end)
    }

    /// The bytes of consecutive sections, up to the next section or the end; empty if others lie between them.
    func range(of names: [UInt32]) -> Range<Int> {
        let own = names.compactMap { sections[$0] }
        guard let first = own.map(\.lowerBound).min(), let last = own.map(\.upperBound).max() else {
            return 0..<0
        }
        let others = sections.filter { !names.contains($0.key) && $0.value.upperBound > first }
        let next = others.map(\.value.lowerBound).min() ?? end
        return next >= last ? first..<next : 0..<0
    }

    private static func read(
        _ range: Range<Int>, of file: FileDescriptor, _ path: String
    ) throws(StateFault) -> [UInt8] {
        do throws(FileError) {
            let bytes = try FileIO.read(range.count, from: file, at: range.lowerBound, path: path)
            guard bytes.count == range.count else { throw FileIO.failure(EIO, "read", path) }
            return bytes
        } catch { throw StateFault(error) }
    }

    private static func entry(
        _ index: Int, of table: [UInt8], within end: Int, _ path: String
    ) throws(StateFault) -> (UInt32, UInt64, Range<Int>) {
        let values: [UInt64] = (0..<4).map {
            SectionFile.number(at: index * SectionFile.entrySize + $0 * 8, in: table)
        }
        guard let name = UInt32(exactly: values[0]), let offset = Int(exactly: values[2]),
            let length = Int(exactly: values[3]), offset >= SourceImage.pageSize,
            offset % SectionFile.alignment == 0, offset <= end, length <= end - offset
        else { throw StateFault("\(path) has a section \(values[0]) that lies outside of it") }
        return (name, values[1], offset..<offset + length)
    }
}

/// An immutable array of trivial values, as it was made or in the image of the file from which it was loaded.
/// The latter takes no memory besides the image.
///
/// It is not a collection: in another module each access through a collection's generic functions would
/// allocate memory. That is also why `withValues` is inlined into other modules.
///
/// Invariant: borrowed values lie in the image, which `owner` keeps alive, and are aligned. Nobody writes
/// them, so they may be shared.
@usableFromInline package struct SectionValues<Element: BitwiseCopyable & Sendable>: @unchecked Sendable {
    @usableFromInline enum Storage {
        case array([Element])
        case borrowed(UnsafeBufferPointer<Element>, owner: AnyObject)
    }

    @usableFromInline let storage: Storage
    package let count: Int
    package var isEmpty: Bool { count == 0 }

    package init(_ values: [Element]) {
        storage = .array(values)
        count = values.count
    }

    /// Values that others own.
    ///
    /// - Parameter owner: keeps them valid and unchanged.
    package init(_ values: UnsafeBufferPointer<Element>, owner: AnyObject) {
        storage = .borrowed(values, owner: owner)
        count = values.count
    }

    /// - Parameter bytes: a loaded section of the image. Sections are aligned to 64 bytes.
    init(_ bytes: UnsafeRawBufferPointer, of image: SourceImage) {
        let values = bytes.bindMemory(to: Element.self)
        storage = .borrowed(values, owner: image)
        count = values.count
    }

    /// Bytes of memory besides an image's.
    package var memoryBytes: Int {
        switch storage {
        case .array: count * MemoryLayout<Element>.stride
        case .borrowed(_, let owner):
            (owner as? SourceImage)?.isEvictable == true ? 0 : count * MemoryLayout<Element>.stride
        }
    }

    /// Whether reading them does not wait for a disk.
    package var isResident: Bool {
        switch storage {
        case .array: true
        case .borrowed(_, let owner): (owner as? SourceImage)?.isResident ?? true
        }
    }

    /// Lets the pages of some values be read from the disk side by side, if they are in a file.
    package func willRead(_ indexes: [Int]) {
        guard case .borrowed(let values, let owner as SourceImage) = storage, let base = values.baseAddress else {
            return
        }
        owner.readAhead(indexes.filter { $0 < count }.map { UnsafeRawPointer(base + $0) })
    }

    /// The value at an index.
    ///
    /// - Precondition: `0 <= index < count`.
    @inlinable package subscript(index: Int) -> Element {
        switch storage {
        case .borrowed(let values, _): values[index]
        case .array(let values): values[index]
        }
    }

    /// Lends the values.
    @inlinable package func withValues<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<Element>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        switch storage {
        case .borrowed(let values, let owner):
            return try withExtendedLifetime(owner) { () throws(Failure) in try body(values) }
        case .array(let values): return try values.withUnsafeBufferPointer(body)
        }
    }
}

// SPDX-License-Identifier: MIT
import Compression
import Synchronization
import SystemSupport

/// The sections of a file's image. Each lies within the file and has a checksum.
package struct SectionFileReader: Sendable {
    package let file: FileImage
    package let path: String
    package let generation: UInt64
    private let sections: [UInt32: Section]

    private struct Section {
        let checksum: UInt64
        let range: Range<Int>
    }

    /// Reads the header and the table. No section is read yet.
    package init(_ file: FileImage, path: String) throws(StateFault) {
        let bytes = file.bytes
        try Self.load(0..<min(bytes.count, SectionFile.headerSize), of: file)
        try SectionFile.checkStart(bytes, .snapshot, path)
        func number(_ offset: Int) -> Int? {
            Int(exactly: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        let count = Int(bytes.loadUnaligned(fromByteOffset: 24, as: UInt32.self))
        guard let start = number(32), number(40) == bytes.count, count <= SectionFile.mostSections,
            start >= SectionFile.headerSize, start <= bytes.count,
            bytes.count - start == count * SectionFile.entrySize
        else { throw StateFault("\(path) is cut short or damaged: it has \(bytes.count) bytes") }
        try Self.load(start..<bytes.count, of: file)
        let table = UnsafeRawBufferPointer(rebasing: bytes[start...])
        guard Zlib.crc32(table) == bytes.loadUnaligned(fromByteOffset: 28, as: UInt32.self) else {
            throw StateFault("\(path) is damaged in its table of sections")
        }
        var sections: [UInt32: Section] = [:]
        for place in 0..<count {
            let (name, section) = try Self.entry(table, place, within: start, path)
            guard sections.updateValue(section, forKey: name) == nil else {
                throw StateFault("\(path) has two sections \(name)")
            }
        }
        self.file = file
        self.path = path
        self.sections = sections
        generation = bytes.loadUnaligned(fromByteOffset: 48, as: UInt64.self)
    }

    private static func load(_ range: Range<Int>, of file: FileImage) throws(StateFault) {
        do throws(FileError) { try file.load(range) } catch { throw StateFault(error) }
    }

    private static func entry(
        _ table: UnsafeRawBufferPointer, _ place: Int, within end: Int, _ path: String
    ) throws(StateFault) -> (UInt32, Section) {
        let entry = UnsafeRawBufferPointer(
            rebasing: table[place * SectionFile.entrySize..<(place + 1) * SectionFile.entrySize])
        let name = entry.loadUnaligned(fromByteOffset: 0, as: UInt32.self)
        guard let offset = Int(exactly: entry.loadUnaligned(fromByteOffset: 16, as: UInt64.self)),
            let length = Int(exactly: entry.loadUnaligned(fromByteOffset: 24, as: UInt64.self)),
            offset >= SectionFile.headerSize, offset % SectionFile.alignment == 0, offset <= end,
            length <= end - offset
        else { throw StateFault("\(path) has a section \(name) that lies outside of it") }
        let checksum = entry.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        return (name, Section(checksum: checksum, range: offset..<offset + length))
    }

    private init(_ other: SectionFileReader, _ file: FileImage) {
        (self.file, path, generation, sections) = (file, other.path, other.generation, other.sections)
    }

    /// A reader of the same file with an image of its own, for sections that outlive the others in memory.
    package func onOwnImage() throws(StateFault) -> SectionFileReader {
        do throws(FileError) {
            return SectionFileReader(self, try file.another() ?? file)
        } catch { throw StateFault(error) }
    }

    /// A section's bytes, valid while `file` is alive; empty if there is no such section.
    package func bytes(_ name: UInt32) -> UnsafeRawBufferPointer {
        guard let section = sections[name] else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(rebasing: file.bytes[section.range])
    }

    /// Where a section begins in the file.
    package func offset(of name: UInt32) -> Int { sections[name]?.range.lowerBound ?? 0 }

    /// Where a section lies in the file, and its checksum in the table; nil if there is no such section.
    func entry(_ name: UInt32) -> (range: Range<Int>, checksum: UInt64)? {
        sections[name].map { ($0.range, $0.checksum) }
    }

    /// The names of all sections.
    package var names: [UInt32] { Array(sections.keys) }

    package func has(_ name: UInt32) -> Bool { sections[name] != nil }

    /// Reads all sections but some and compares their checksums, on all cores. O(bytes), at several gigabytes per second.
    ///
    /// - Parameters:
    ///   - replaceable: sections that the caller can do without.
    ///   - others: sections that another reader of the same file reads instead.
    /// - Returns: the damage of replaceable sections, in the order of their names. Other damage is thrown.
    @discardableResult
    package func verify(
        except unchecked: Set<UInt32>, replaceable: Set<UInt32> = [],
        others: (names: Set<UInt32>, reader: SectionFileReader)? = nil
    ) throws(StateFault) -> [StateFault] {
        // The largest section comes first, so that its checksum is not the last to be computed.
        let names = sections.keys.filter { !unchecked.contains($0) }
            .sorted { (sections[$0]?.range.count ?? 0, $0) > (sections[$1]?.range.count ?? 0, $1) }
        let sums = names.map { SectionSum(sections[$0]?.range ?? 0..<0) }
        let pieces = sums.indices.flatMap { index in (0..<sums[index].pieceCount).map { (index, $0) } }
        let faults = Mutex<[UInt32: StateFault]>([:])
        let bytes = names.reduce(0) { $0 + (sections[$1]?.range.count ?? 0) }
        // Not on the process's shared threads: a disk that does not answer must not take them from other sources.
        let threads = bytes < Self.fewBytes ? 1 : AvailableProcessors.count
        Parallel(.own, threads: threads).forEach(below: pieces.count) { number in
            let (index, piece) = pieces[number]
            let name = names[index]
            let reader = others.map { $0.names.contains(name) ? $0.reader : self } ?? self
            do throws(StateFault) { try reader.check(name, sums[index], piece) } catch {
                faults.withLock { $0[name] = error }
            }
        }
        let found = faults.withLock { $0 }
        // A section that the machine could not read may be intact, so the file must not count as damaged.
        if let fault = found.values.first(where: { $0.kind == .machine }) { throw fault }
        let damaged = found.sorted { $0.key < $1.key }
        if let fault = damaged.first(where: { !replaceable.contains($0.key) }) { throw fault.value }
        return damaged.map(\.value)
    }

    /// Reads a section, if it exists, and compares its checksum.
    package func verify(section name: UInt32) throws(StateFault) {
        guard let section = sections[name] else { return }
        let sum = SectionSum(section.range)
        for piece in 0..<sum.pieceCount { try check(name, sum, piece) }
    }

    /// Reads a piece of a section, and compares the section's checksum after the last.
    private func check(_ name: UInt32, _ sum: SectionSum, _ piece: Int) throws(StateFault) {
        let found: UInt64?
        do throws(FileError) { found = try sum.load(piece, of: file) } catch { throw StateFault(error) }
        guard let found, let section = sections[name], found != section.checksum else { return }
        throw StateFault("\(path) is damaged in its section \(name), bytes \(section.range)")
    }

    /// One thread reads this much sooner than others have started.
    private static let fewBytes = 1 << 20

    /// A section's values in the file's image.
    package func borrowed<Element: BitwiseCopyable>(
        _ name: UInt32, of type: Element.Type
    ) throws(StateFault) -> SectionValues<Element> {
        let bytes = bytes(name)
        guard has(name), bytes.count % MemoryLayout<Element>.stride == 0 else {
            throw StateFault("\(path) lacks section \(name), or it has a wrong size")
        }
        return SectionValues(bytes, of: file)
    }

    /// A copy of a section's values.
    package func values<Element: BitwiseCopyable>(
        _ name: UInt32, count: Int? = nil
    ) throws(StateFault) -> [Element] {
        let bytes = bytes(name)
        let stride = MemoryLayout<Element>.stride
        let found = bytes.count / stride
        guard has(name), bytes.count % stride == 0, count.map({ $0 == found }) ?? true else {
            throw StateFault("\(path) lacks section \(name), or it has a wrong size")
        }
        return Parallel(.shared, threads: AvailableProcessors.count).copy(bytes)
    }
}

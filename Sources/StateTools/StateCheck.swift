// SPDX-License-Identifier: MIT
import Compression
import GeoJSON
import SourceStorage
import Sources
import SystemSupport

/// Reads a state directory and reports which files are intact. Changes nothing, and works while a daemon uses it.
public enum StateCheck {
    /// The result for one file.
    public struct Finding: Sendable, Equatable {
        public enum Condition: String, Sendable {
            case intact, damaged
            /// The machine could not read the file.
            case unreadable
            /// A newer clusterd wrote the file.
            case newer
        }

        public let source: String
        /// The file's name in the source's directory.
        public let file: String
        public let condition: Condition
        /// The damaged bytes, if known.
        public let bytes: Range<Int>?
        /// The result for the operator; empty for an intact file.
        public let message: String
    }

    /// The names of the sources in a directory, sorted.
    public static func sources(in directory: String) throws(StateToolError) -> [String] {
        try onDisk(try FileIO.names(in: directory + "/sources")).filter { SourceName($0) != nil }.sorted()
    }

    /// Checks all bytes of a source's files. O(bytes).
    public static func check(_ source: String, in directory: String) throws(StateToolError) -> [Finding] {
        let folder = "\(directory)/sources/\(source)"
        var findings: [Finding] = []
        var seen: Set<String> = []
        // A running daemon may replace files meanwhile. Then the new ones are checked.
        for _ in 0..<attempts {
            let names = try onDisk(try FileIO.names(in: folder)).filter { SourceFiles.read($0) != nil }
            var isComplete = true
            for name in names.sorted() where !seen.contains(name) {
                guard let finding = check(name, source, folder) else {
                    isComplete = false
                    continue
                }
                seen.insert(name)
                findings.append(finding)
            }
            if isComplete { break }
        }
        if !findings.contains(where: { $0.file.hasSuffix(".snapshot") }) {
            findings.append(
                Finding(
                    source: source, file: "", condition: .damaged, bytes: nil,
                    message: "\(folder) has no snapshot"))
        }
        return findings
    }

    private static let attempts = 5

    /// Nil if the file no longer exists.
    private static func check(_ name: String, _ source: String, _ folder: String) -> Finding? {
        let path = folder + "/" + name
        func finding(_ condition: Finding.Condition, _ message: String, _ bytes: Range<Int>? = nil) -> Finding
        {
            Finding(source: source, file: name, condition: condition, bytes: bytes, message: message)
        }
        do throws(StateFault) {
            if name.hasSuffix(".journal") {
                let journal = try FoundJournal(path)
                guard let damage = journal.damage ?? journal.note else { return finding(.intact, "") }
                return finding(.damaged, damage, journal.damagedBytes)
            }
            guard let bytes = try damagedText(path) else { return finding(.intact, "") }
            return finding(.damaged, "\(path) is damaged in its features, bytes \(bytes)", bytes)
        } catch {
            guard FileIO.exists(path) else { return nil }
            switch error.kind {
            case .damage: return finding(.damaged, error.message)
            case .machine: return finding(.unreadable, error.message)
            case .newerFormat: return finding(.newer, error.message)
            }
        }
    }

    /// Checks a snapshot. Returns the range of the first damaged block of its features' text; nil if there is none.
    private static func damagedText(_ path: String) throws(StateFault) -> Range<Int>? {
        let reader = try SnapshotText(path)
        try reader.sections.verify(except: [SnapshotSection.text])
        return reader.damagedBlocks.first
    }
}

/// The features' text of a snapshot, block by block, whatever else of the file is damaged.
struct SnapshotText {
    let sections: SectionFileReader
    let text: UnsafeRawBufferPointer
    private let checksums: [UInt64]
    /// The number of bytes that one checksum covers.
    private let blockSize: Int

    /// Loads a snapshot's table, its text and its text's checksums.
    init(_ path: String) throws(StateFault) {
        let file: FileImage
        do throws(FileError) { file = try FileImage(loading: path) } catch { throw StateFault(error) }
        sections = try SectionFileReader(file, path: path)
        text = sections.bytes(SnapshotSection.text)
        let fine: [UInt64]? = try? sections.values(
            SnapshotSection.fineTextChecksums, count: Self.blocks(of: text, FineChecksums.blockSize))
        if let fine, (try? sections.verify(section: SnapshotSection.fineTextChecksums)) != nil {
            (checksums, blockSize) = (fine, FineChecksums.blockSize)
        } else {
            // An older clusterd wrote the file, or these checksums are damaged themselves.
            blockSize = TextGuard.chunkSize
            checksums = try sections.values(
                SnapshotSection.textChecksums, count: Self.blocks(of: text, blockSize))
        }
    }

    private static func blocks(of text: UnsafeRawBufferPointer, _ size: Int) -> Int {
        (text.count + size - 1) / size
    }

    /// The ranges of the file that contain damaged blocks of the text.
    var damagedBlocks: [Range<Int>] {
        let start = sections.offset(of: SnapshotSection.text)
        defer { withExtendedLifetime(sections.file) {} }
        return checksums.indices.compactMap { block in
            guard isDamaged(block) else { return nil }
            let range = range(block)
            return start + range.lowerBound..<start + range.upperBound
        }
    }

    /// Finds the damaged blocks in one pass.
    func damage() -> Damage {
        Damage(blocks: Set(checksums.indices.filter(isDamaged)), blockSize: blockSize)
    }

    /// The damaged parts of a text.
    struct Damage {
        let blocks: Set<Int>
        let blockSize: Int

        /// Whether a damaged block overlaps a range of the text.
        func touches(_ range: Range<Int>) -> Bool {
            guard !range.isEmpty, !blocks.isEmpty else { return false }
            return (range.lowerBound / blockSize...(range.upperBound - 1) / blockSize).contains {
                blocks.contains($0)
            }
        }
    }

    private func range(_ block: Int) -> Range<Int> {
        min(block * blockSize, text.count)..<min((block + 1) * blockSize, text.count)
    }

    private func isDamaged(_ block: Int) -> Bool {
        BlockChecksum.of(UnsafeRawBufferPointer(rebasing: text[range(block)])) != checksums[block]
    }
}

// SPDX-License-Identifier: MIT
import ImageStore
import SourceEngine
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
            /// An older clusterd wrote the file.
            case older
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
        if let finding = checkAttachment(source, folder) { return [finding] }
        var findings: [Finding] = []
        var seen: Set<String> = []
        // A running daemon may replace files meanwhile. Then the new ones are checked.
        for _ in 0..<attempts {
            let names = try onDisk(try FileIO.names(in: folder)).filter { name in
                // A checkpoint that is damaged is not used, so nothing is lost with it.
                SourceFiles.read(name).map { $0.kind != .checkpoint } ?? false
            }
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

    /// The result for the image of a source that is one; nil if the source is none.
    private static func checkAttachment(_ source: String, _ folder: String) -> Finding? {
        var name = Attachment.fileName
        func finding(_ condition: Finding.Condition, _ message: String) -> Finding {
            Finding(source: source, file: name, condition: condition, bytes: nil, message: message)
        }
        do throws(StateFault) {
            guard let attachment = try Attachment(in: folder) else { return nil }
            name = attachment.image
            // Page by page, since an image may be larger than the memory.
            let reader = try SectionFileReader(name, .onDemand(PageMemory(), from: 0, text: SnapshotSection.text))
            if !reader.image.verify() { try reader.checkIntact() }
            return finding(.intact, "")
        } catch { return finding(condition(of: error), error.message) }
    }

    private static func condition(of fault: StateFault) -> Finding.Condition {
        switch fault.kind {
        case .damage: .damaged
        case .machine: .unreadable
        case .newerFormat: .newer
        case .olderFormat: .older
        }
    }

    /// Nil if the file no longer exists.
    private static func check(_ name: String, _ source: String, _ folder: String) -> Finding? {
        let path = folder + "/" + name
        func finding(_ condition: Finding.Condition, _ message: String, _ bytes: Range<Int>? = nil) -> Finding {
            Finding(source: source, file: name, condition: condition, bytes: bytes, message: message)
        }
        do throws(StateFault) {
            if name.hasSuffix(".journal") {
                let journal = try FoundJournal(path)
                guard let damage = journal.damage ?? journal.note else { return finding(.intact, "") }
                return finding(.damaged, damage, journal.damagedBytes)
            }
            guard let bytes = try SnapshotText(path).damage.first else { return finding(.intact, "") }
            return finding(.damaged, "\(path) is damaged in bytes \(bytes)", bytes)
        } catch {
            guard FileIO.exists(path) else { return nil }
            return finding(condition(of: error), error.message)
        }
    }
}

/// Why a state directory could not be checked, salvaged, backed up or restored, in a sentence for the operator.
public struct StateToolError: Error, Sendable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }

    init(_ error: FileError) { description = error.description }

    init(_ fault: StateFault) { description = fault.message }
}

/// The state directory, with the lock that a daemon would take.
func locked(_ directory: String) throws(StateToolError) -> StateDirectory {
    do throws(StateDirectory.Problem) { return try StateDirectory(directory) } catch {
        throw StateToolError(error.description)
    }
}

/// Evaluates an expression that works on files, and converts its errors to `StateToolError`.
func onDisk<Result>(_ body: @autoclosure () throws(FileError) -> Result) throws(StateToolError) -> Result {
    do throws(FileError) { return try body() } catch { throw StateToolError(error) }
}

// SPDX-License-Identifier: MIT
import Glibc
import SourceEngine
import SystemSupport

/// Restores the sources of a backup into a state directory that no daemon uses.
public enum Restore {
    /// - Parameters:
    ///   - path: a file that `Backup` wrote.
    ///   - sources: nil for all.
    /// - Returns: the names of the restored sources. None of them may already be in the directory. If this throws, the
    ///   directory is unchanged.
    public static func read(
        _ path: String, sources: [String]? = nil, into directory: String
    ) throws(StateToolError) -> [String] {
        let bytes = try onDisk(try FileIO.contents(of: path))
        let entries = try entries(bytes, path).filter { sources?.contains($0.source) ?? true }
        let names = Set(entries.map(\.source)).sorted()
        if let missing = sources?.first(where: { !names.contains($0) }) {
            throw StateToolError("\(path) has no source '\(missing)'")
        }
        let state = try locked(directory)
        defer { withExtendedLifetime(state) {} }
        for name in names where FileIO.exists("\(directory)/sources/\(name)") {
            throw StateToolError(
                "\(directory) has a source '\(name)' already; delete it first, or restore into another directory"
            )
        }
        do throws(StateToolError) {
            for name in names { try write(entries.filter { $0.source == name }, name, directory) }
        } catch {
            for name in names {
                FileIO.removeDirectory("\(directory)/sources/\(name)")
                FileIO.removeDirectory("\(directory)/sources/.restore-\(name)")
            }
            throw error
        }
        return names
    }

    private struct Entry {
        let source: String
        let file: String
        let bytes: ArraySlice<UInt8>
    }

    /// Writes and syncs a source's files, checks them, and renames their directory.
    private static func write(_ entries: [Entry], _ name: String, _ directory: String) throws(StateToolError) {
        let (new, final) = ("\(directory)/sources/.restore-\(name)", "\(directory)/sources/\(name)")
        FileIO.removeDirectory(new)
        try onDisk(try FileIO.makeDirectory(new))
        for entry in entries {
            let path = new + "/" + entry.file
            let file = try onDisk(try FileIO.create(path))
            try onDisk(try FileIO.write(Array(entry.bytes), to: file, at: 0, path: path))
            try onDisk(try FileIO.sync(file, path: path))
        }
        try onDisk(try FileIO.syncDirectory(new))
        try onDisk(try FileIO.rename(new, to: final))
        try onDisk(try FileIO.syncDirectory(directory + "/sources"))
        let findings = try StateCheck.check(name, in: directory)
        if let bad = findings.first(where: { $0.condition != .intact }) {
            throw StateToolError("the backup is damaged: \(bad.message)")
        }
    }

    private static func entries(_ bytes: [UInt8], _ path: String) throws(StateToolError) -> [Entry] {
        var (entries, offset): ([Entry], Int) = ([], 0)
        while offset + TarHeader.size <= bytes.count {
            let head = Array(bytes[offset..<offset + TarHeader.size])
            // Two empty headers end an archive.
            if head.allSatisfy({ $0 == 0 }) { return entries }
            guard let header = TarHeader(head), header.count <= bytes.count - offset - TarHeader.size,
                let entry = entry(header, bytes, offset + TarHeader.size)
            else { break }
            entries.append(entry)
            offset += TarHeader.size + header.count + TarHeader.padding(header.count)
        }
        throw StateToolError("\(path) is not a backup of clusterctl, or is damaged at byte \(offset)")
    }

    /// Nil for a name that no backup contains.
    private static func entry(_ header: TarHeader, _ bytes: [UInt8], _ start: Int) -> Entry? {
        let parts = header.name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, parts[0] == "sources", SourceName(parts[1]) != nil,
            SourceFiles.read(parts[2]) != nil || parts[2] == Attachment.fileName
        else { return nil }
        return Entry(source: parts[1], file: parts[2], bytes: bytes[start..<start + header.count])
    }
}

// SPDX-License-Identifier: MIT
import Glibc
import ImageStore
import SourceEngine
import SystemSupport

/// Converts a state directory of release 0.2.0 to the current format. No daemon may use it.
///
/// The arrays of a snapshot keep their contents, so clusters keep their ids and journals go on. The old files are kept.
public enum StateUpgrade {
    /// - Returns: the files that were converted; empty if all were of the current format.
    /// - Throws: at the first file that cannot be converted. It is unchanged then; those before are converted.
    /// - Complexity: O(bytes).
    public static func run(_ directory: String) throws(StateToolError) -> [String] {
        let state = try locked(directory)
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
    private static func replace(_ name: String, of source: String, in directory: String) throws(StateToolError) {
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
                let bytes = try onDisk(try FileIO.contents(of: old))
                let file = try onDisk(try FileIO.create(copy))
                try onDisk(try FileIO.write(bytes, to: file, at: 0, path: copy))
                try onDisk(try FileIO.sync(file, path: copy))
            }
        }
        try onDisk(try FileIO.syncDirectory(kept))
        try onDisk(try FileIO.rename(folder + "/" + SourceFiles.temporaryPrefix + name, to: folder + "/" + name))
        FileIO.remove(folder + "/overview")
        try onDisk(try FileIO.syncDirectory(folder))
    }
}

// SPDX-License-Identifier: MIT
import CommandLineOptions
import Glibc
import StateTools

/// `clusterctl backup`: one file with the sources of a state directory.
enum BackupCommand: Subcommand {
    static let table = Command(
        "backup", summary: "Write the sources of a state directory to one file",
        details: [
            "The file is a tar archive. Each source in it is whole, as of one moment, and has all changes that were "
                + "acknowledged before the command began. The daemon may run and take changes meanwhile. A damaged "
                + "source fails the command; name the others to leave it out."
        ],
        operands: [
            Operand("DIR", kind: .file, help: "the daemon's state directory"),
            Operand("FILE", kind: .file, help: "the backup; replaced once the new one is whole"),
            Operand("SOURCE", count: .any, help: "which sources; default: all"),
        ],
        examples: [
            Example("clusterctl backup /var/lib/clusterd clusterd.tar", "writes all sources"),
            Example("clusterctl backup /var/lib/clusterd cities.tar cities", "writes one"),
        ])

    static func run(_ invocation: Invocation) async throws {
        let operands = invocation.arguments.operands
        let path = try invocation.operand(1)
        let sources = operands.count > 2 ? Array(operands.dropFirst(2)) : nil
        let names = try Backup.write(try invocation.operand(0), sources: sources, to: path)
        invocation.print("\(path): \(names.count) sources")
    }
}

/// `clusterctl restore`: puts the sources of a backup into a state directory.
enum RestoreCommand: Subcommand {
    static let table = Command(
        "restore", summary: "Put the sources of a backup into a state directory",
        details: [
            "No daemon may run on the directory, and none of the sources may be there. The files belong to the user who runs "
                + "the command; run it as the daemon's user. Either all sources are restored and checked, or none."
        ],
        operands: [
            Operand("FILE", kind: .file, help: "what 'backup' wrote"),
            Operand("DIR", kind: .file, help: "the state directory; made if it is missing"),
            Operand("SOURCE", count: .any, help: "which sources; default: all"),
        ], examples: [Example("clusterctl restore clusterd.tar /var/lib/clusterd", "restores all sources")])

    static func run(_ invocation: Invocation) async throws {
        let operands = invocation.arguments.operands
        let directory = try invocation.operand(1)
        if Self.kind(of: try invocation.operand(0)) == S_IFDIR, Self.kind(of: directory) != S_IFDIR {
            throw invocation.arguments.usageError(
                "the backup's file comes first, then the state directory: restore \(directory) \(try invocation.operand(0))"
            )
        }
        let sources = operands.count > 2 ? Array(operands.dropFirst(2)) : nil
        let names = try Restore.read(try invocation.operand(0), sources: sources, into: directory)
        invocation.print("\(directory): \(names.count) sources restored: \(names.joined(separator: ", "))")
    }

    /// The kind of a file; nil if there is none.
    private static func kind(of path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }
}

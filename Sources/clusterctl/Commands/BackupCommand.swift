// SPDX-License-Identifier: MIT
import CommandLineOptions
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

// SPDX-License-Identifier: MIT
import Glibc

/// What a program's `main` does with a command's table.
public enum Launch {
    /// Parses the process's arguments. If they request help or the version, prints it and exits with 0; if
    /// they are invalid, prints an error and exits with 2. So it returns only if there is something to run.
    public static func parseOrExit(_ command: Command, version: String) -> ParsedArguments {
        do throws(UsageError) {
            switch try command.parse(Array(CommandLine.arguments.dropFirst())) {
            case .run(let arguments): return arguments
            case .help(let text): print(text, terminator: "")
            case .version: print("\(command.name) \(version)")
            }
            exit(0)
        } catch {
            exitWithUsageError(error)
        }
    }

    /// Writes the error to standard error and exits with status 2.
    public static func exitWithUsageError(_ error: UsageError) -> Never {
        writeToStandardError("\(error)\n")
        exit(UsageError.exitStatus)
    }

    /// Writes the text to standard error, unbuffered.
    public static func writeToStandardError(_ text: String) { _ = write(Array(text.utf8), to: STDERR_FILENO) }

    /// Writes all bytes to a descriptor; returns the system's error number, or 0.
    public static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        for start in stride(from: 0, to: bytes.count, by: 1 << 16) {
            var rest = Array(bytes[start..<min(bytes.count, start + 1 << 16)])
            while !rest.isEmpty {
                let written = Glibc.write(descriptor, rest, rest.count)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { return errno }
                rest.removeFirst(written)
            }
        }
        return 0
    }
}

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
    public static func writeToStandardError(_ text: String) {
        var rest = Array(text.utf8)
        while !rest.isEmpty {
            let written = write(STDERR_FILENO, rest, rest.count)
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { return }
            rest.removeFirst(written)
        }
    }
}

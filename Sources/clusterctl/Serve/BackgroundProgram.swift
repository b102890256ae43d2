// SPDX-License-Identifier: MIT
import Glibc

/// Starts programs that run in the background, without this program's terminal.
enum BackgroundProgram {
    /// Starts a program in a new session, so that a Ctrl-C in this program's terminal does not reach it.
    ///
    /// - Parameters:
    ///   - input: its standard input; nil for none.
    ///   - output: a descriptor for its standard output and standard error; nil for none.
    /// - Returns: its process id.
    static func start(
        _ path: String, _ arguments: [String], environment: [String], input: Int32? = nil,
        output: Int32? = nil
    ) throws(Failure) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, given) in [(STDIN_FILENO, input), (STDOUT_FILENO, output), (STDERR_FILENO, output)] {
            if let given {
                posix_spawn_file_actions_adddup2(&actions, given, number)
            } else {
                posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
            }
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        let flags = newSession | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        posix_spawnattr_setflags(&attributes, Int16(truncatingIfNeeded: flags))
        var process: pid_t = 0
        let status = withStrings([path] + arguments) { arguments in
            withStrings(environment) { environment in
                posix_spawn(&process, path, &actions, &attributes, arguments, environment)
            }
        }
        guard status == 0 else {
            throw Failure(message: "cannot start \(path): \(String(cString: strerror(status)))")
        }
        return process
    }

    /// POSIX_SPAWN_SETSID of <spawn.h>, which needs _GNU_SOURCE.
    private static let newSession: Int32 = 0x80

    /// Lends an array of C strings that ends with nil.
    private static func withStrings<Result>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }

    /// This process's environment without some variables.
    static func environment(without names: Set<String>) -> [String] {
        var strings: [String] = []
        var entry = environ
        while let text = entry.pointee {
            let string = String(cString: text)
            if !names.contains(String(string.prefix { $0 != "=" })) { strings.append(string) }
            entry += 1
        }
        return strings
    }
}

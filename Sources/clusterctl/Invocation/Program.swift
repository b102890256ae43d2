// SPDX-License-Identifier: MIT
import Glibc

/// Starts other programs.
enum Program {
    /// The path of a program in `$PATH`; nil if there is none.
    static func find(_ name: String) -> String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        return path.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// Starts a program with the signals' default actions.
    ///
    /// - Parameters:
    ///   - environment: nil for that of this process.
    ///   - input: its standard input, like the others; nil for none.
    ///   - isApart: whether it has a session of its own, so that a Ctrl-C in this program's terminal does not reach it.
    /// - Returns: its process id.
    static func start(
        _ path: String, _ arguments: [String], environment: [String]? = nil, input: Int32? = nil,
        output: Int32? = nil, errors: Int32? = nil, isApart: Bool = false
    ) throws(Failure) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, given) in [(STDIN_FILENO, input), (STDOUT_FILENO, output), (STDERR_FILENO, errors)] {
            if let given {
                posix_spawn_file_actions_adddup2(&actions, given, number)
            } else {
                posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
            }
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (isApart ? newSession : 0)
        posix_spawnattr_setflags(&attributes, Int16(truncatingIfNeeded: flags))
        var process: pid_t = 0
        let words = ([path] + arguments).map { strdup($0) } + [nil]
        let variables = (environment ?? Self.environment()).map { strdup($0) } + [nil]
        defer { for text in words + variables { free(text) } }
        let status = posix_spawn(&process, path, &actions, &attributes, words, variables)
        guard status == 0 else {
            throw Failure(message: "cannot start \(path): \(String(cString: strerror(status)))")
        }
        return process
    }

    /// POSIX_SPAWN_SETSID of <spawn.h>, which needs _GNU_SOURCE.
    private static let newSession: Int32 = 0x80

    /// This process's environment without some variables.
    static func environment(without names: Set<String> = []) -> [String] {
        var strings: [String] = []
        var entry = environ
        while let text = entry.pointee {
            let string = String(cString: text)
            if !names.contains(String(string.prefix { $0 != "=" })) { strings.append(string) }
            entry += 1
        }
        return strings
    }

    /// Shows an address in the user's browser; does nothing without a desktop.
    static func open(_ address: String) {
        let hasDesktop = ["DISPLAY", "WAYLAND_DISPLAY"].contains { !(Terminal.environment($0) ?? "").isEmpty }
        guard hasDesktop, let program = find("xdg-open") else { return }
        _ = try? start(program, [address], isApart: true)
    }
}

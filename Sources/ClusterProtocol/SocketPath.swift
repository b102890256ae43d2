// SPDX-License-Identifier: MIT
import Glibc

/// The location of the daemon's socket. The daemon and its clients look in the same order.
public enum SocketPath {
    /// The system daemon's socket.
    public static let system = "/run/clusterd/clusterd.sock"

    /// The path on which the daemon listens: `--socket`, else `$CLUSTERD_SOCKET`, else
    /// `$XDG_RUNTIME_DIR/clusterd.sock`, else the system's. Empty values count as absent.
    public static func resolve(option: String?, environment: (String) -> String? = Self.variable) -> String {
        candidates(option: option, environment: environment)[0]
    }

    /// The sockets that a client tries, in order; never empty. A path that the user names, with `--socket` or
    /// `$CLUSTERD_SOCKET`, is the only one: a call must not reach a daemon other than the named one.
    public static func candidates(option: String?, environment: (String) -> String? = Self.variable) -> [String] {
        if let option, !option.isEmpty { return [option] }
        if let path = environment("CLUSTERD_SOCKET"), !path.isEmpty { return [path] }
        guard let directory = environment("XDG_RUNTIME_DIR"), !directory.isEmpty else { return [system] }
        return [directory + "/clusterd.sock", system]
    }

    /// The value of an environment variable of this process.
    public static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}

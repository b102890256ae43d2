// SPDX-License-Identifier: MIT
import Glibc

/// Where the daemon's socket is: the daemon and its clients look in the same order.
public enum SocketPath {
    /// The system's own, where no other is told.
    public static let system = "/run/clusterd/clusterd.sock"

    /// `--socket`, else `$CLUSTERD_SOCKET`, else `$XDG_RUNTIME_DIR/clusterd.sock`, else the system's.
    /// Empty values count as absent.
    public static func resolve(option: String?, environment: (String) -> String? = Self.variable) -> String {
        if let option, !option.isEmpty { return option }
        if let path = environment("CLUSTERD_SOCKET"), !path.isEmpty { return path }
        if let directory = environment("XDG_RUNTIME_DIR"), !directory.isEmpty {
            return directory + "/clusterd.sock"
        }
        return system
    }

    /// A variable of this process's environment.
    public static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}

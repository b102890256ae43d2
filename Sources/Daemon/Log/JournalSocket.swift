// SPDX-License-Identifier: MIT
import EventLoop
import Glibc

/// journald's own protocol (systemd.io, "Native Journal Protocol"): an entry with fields that journalctl can
/// search. Safe from any thread; never waits.
struct JournalSocket: Sendable {
    private let path: String

    init(path: String = "/run/systemd/journal/socket") { self.path = path }

    /// Formats an entry: one line per field.
    static func entry(_ priority: Int, _ message: String, _ fields: [(name: String, value: String)]) -> String
    {
        var text = "PRIORITY=\(priority)\nSYSLOG_IDENTIFIER=clusterd\nMESSAGE=\(message)\n"
        for (name, value) in fields { text += "CLUSTERD_\(name.uppercased())=\(value)\n" }
        return text
    }

    /// Sends an entry; returns false if journald does not accept it.
    func send(_ entry: String) -> Bool {
        guard let address = UnixSocketAddress(path: path) else { return false }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let bytes = Array(entry.utf8)
        let sent = bytes.withUnsafeBytes {
            address.send($0, from: descriptor, flags: Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
        return sent == bytes.count
    }
}

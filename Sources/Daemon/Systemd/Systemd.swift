// SPDX-License-Identifier: MIT
import RPC
import EventLoop
import Glibc
import Synchronization

/// The protocol between systemd and a service (sd_notify(3), sd_listen_fds(3)), without its library.
public enum Systemd {
    /// A listening socket that was handed over, and its name in the unit (FileDescriptorName=).
    struct HandedSocket {
        let descriptor: Int32
        let name: String

        /// Whether HTTP is to be served on it.
        var isHTTP: Bool { name == "http" }
    }

    /// The listening sockets handed over to this process, in order; empty if there are none. Call it before
    /// anything else opens a descriptor. Descriptors that are not listening sockets are left out.
    static func listenSockets() -> [HandedSocket] {
        guard let pid = variable("LISTEN_PID"), pid == String(getpid()),
            let text = variable("LISTEN_FDS"), let count = Int32(text), count > 0, count < 1024
        else { return [] }
        let names = (variable("LISTEN_FDNAMES") ?? "").split(separator: ":", omittingEmptySubsequences: false)
        unsetenv("LISTEN_PID")
        unsetenv("LISTEN_FDS")
        unsetenv("LISTEN_FDNAMES")
        let descriptors = Array(3..<3 + count)
        for descriptor in descriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        return descriptors.enumerated().filter { isListening($1) }.map { index, descriptor in
            HandedSocket(descriptor: descriptor, name: index < names.count ? String(names[index]) : "")
        }
    }

    private static func isListening(_ descriptor: Int32) -> Bool {
        var flag: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &flag, &length) == 0 && flag != 0
    }

    /// Whether a service manager listens.
    public static var isNotified: Bool { variable("NOTIFY_SOCKET") != nil }

    /// Sends a state such as `READY=1` to the service manager, if there is one. Never waits: a manager that does not
    /// read must not stop the daemon.
    ///
    /// - Returns: false if the manager has too many messages to read, so that it can be sent again later.
    @discardableResult public static func notify(_ state: String) -> Bool {
        guard let path = variable("NOTIFY_SOCKET"), path.hasPrefix("/") || path.hasPrefix("@"),
            let address = UnixSocketAddress(path: path, allowsAbstract: true)
        else { return true }
        return address.send(state) || errno != EAGAIN
    }

    /// The interval at which the service manager expects `WATCHDOG=1`, in milliseconds: half of its limit.
    /// Nil if it expects none.
    public static func watchdogInterval() -> UInt64? {
        guard let text = variable("WATCHDOG_USEC"), let microseconds = UInt64(text), microseconds > 0 else {
            return nil
        }
        if let pid = variable("WATCHDOG_PID"), pid != String(getpid()) { return nil }
        return max(1, microseconds / 2000)
    }

    /// The state directory that the service manager provides, the first if there are several; nil if there is
    /// none (systemd.exec(5), `StateDirectory=`).
    public static var stateDirectory: String? {
        guard let paths = variable("STATE_DIRECTORY") else { return nil }
        return paths.split(separator: ":").first.map(String.init)
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

/// Reports to the service manager that the daemon is alive, as long as all loops and the pool respond.
/// Belongs to the first loop's thread.
final class Watchdog {
    private var timer: Timer?
    private let pending: Pending

    /// Which loops have not responded, and whether the pool has not. Safe from any thread.
    private final class Pending: Sendable {
        private let parts = Mutex<Set<Int>>([])
        var isEmpty: Bool { parts.withLock { $0.isEmpty } }
        func expect(_ all: Range<Int>) { parts.withLock { $0 = Set(all) } }
        func answered(_ part: Int) { _ = parts.withLock { $0.remove(part) } }
    }

    /// - Parameters:
    ///   - interval: the interval between two checks, in milliseconds.
    ///   - notify: called after each check to which all have responded.
    init(loop: EventLoop, servers: ServerGroup, interval: UInt64, notify: @escaping () -> Void) {
        let pending = Pending()
        self.pending = pending
        let loops = servers.loopCount
        func ask() {
            pending.expect(0..<loops + 1)
            servers.onEveryLoop { pending.answered($0) }
            loop.work({}, completion: { pending.answered(loops) })
        }
        ask()
        timer = Timer(on: loop, delay: interval, every: interval) {
            // While a part has not responded, no further check is sent: it would not respond to that either.
            guard pending.isEmpty else { return }
            notify()
            ask()
        }
        timer?.unreference()
    }
}

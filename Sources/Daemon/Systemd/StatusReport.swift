// SPDX-License-Identifier: MIT
import RPC
import Responses
import SourceEngine
import EventLoop

/// Reports the daemon's state to the service manager (sd_notify(3)). Belongs to the loop's thread.
final class StatusReport {
    private let registry: SourceRegistry
    private let loop: EventLoop
    private var timer: Timer?
    private var last = ""
    /// Changes of state that the service manager had no room for, oldest first.
    private var unsent: [String] = []

    /// The interval at which the state is checked, in milliseconds; it is reported if it has changed.
    private static let interval: UInt64 = 2000
    /// How long a start may continue after each report, in microseconds.
    private static let patience = 60_000_000

    init(loop: EventLoop, registry: SourceRegistry) {
        self.loop = loop
        self.registry = registry
    }

    /// Still starting.
    ///
    /// - Parameter what: returns what the start waits for.
    func loading(_ what: @escaping () -> String) {
        every { Systemd.notify("EXTEND_TIMEOUT_USEC=\(Self.patience)\nSTATUS=\(what())") }
    }

    func ready() {
        last = summary
        send("READY=1\nSTATUS=\(last)")
        every { [weak self] in self?.refresh() }
    }

    /// - Note: systemd requires the time at which the reload began, on the monotonic clock.
    func reloading() {
        send("RELOADING=1\nMONOTONIC_USEC=\(MonotonicClock.now() / 1000)\nSTATUS=Reloading")
    }

    func stopping() {
        timer = nil
        send("STOPPING=1\nSTATUS=Ending after the calls in flight")
    }

    private func every(_ report: @escaping () -> Void) {
        guard Systemd.isNotified else { return }
        report()
        timer = Timer(on: loop, delay: Self.interval, every: Self.interval) { [unowned self] in
            sendRest()
            report()
        }
        timer?.unreference()
    }

    /// Sends a change of state, after those that wait.
    private func send(_ state: String) {
        unsent.append(state)
        sendRest()
    }

    private func sendRest() {
        while let next = unsent.first, Systemd.notify(next) { unsent.removeFirst() }
    }

    private func refresh() {
        let now = summary
        if now != last, Systemd.notify("STATUS=\(now)") { last = now }
    }

    private var summary: String {
        let sources = registry.all
        return Self.summary(
            sources: sources.count, points: sources.reduce(0) { $0 + $1.revision.pointCount },
            reading: sources.filter(\.isLoading).map(\.name.text))
    }

    /// Such as `3 sources, 1.2 M points`, and `; reading a, b` if sources are still being read.
    static func summary(sources: Int, points: Int, reading: [String] = []) -> String {
        let counts =
            "\(sources) \(sources == 1 ? "source" : "sources"), \(short(points)) \(points == 1 ? "point" : "points")"
        return reading.isEmpty ? counts : "\(counts); reading \(StartWait.list(reading))"
    }

    /// Formats a number with two or three significant digits.
    private static func short(_ number: Int) -> String {
        // Rounded before the unit is chosen, so that 999,960 is 1.0 M and not 1000.0 k.
        for (unit, size) in [("G", 1_000_000_000), ("M", 1_000_000), ("k", 1000)] where number + size / 20_000 >= size {
            let tenths = (number + size / 20) / (size / 10)
            return "\(tenths / 10).\(tenths % 10) \(unit)"
        }
        return "\(number)"
    }
}

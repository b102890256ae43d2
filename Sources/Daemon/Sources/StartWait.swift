// SPDX-License-Identifier: MIT
import EventLoop
import SourceEngine

/// Waits until a start has read all sources, but only for a limited time. Belongs to the loop's thread.
final class StartWait {
    private let recovery: SourceRecovery
    private var timer: Timer?
    private var then: (() -> Void)?

    /// - Parameters:
    ///   - seconds: after how long the daemon serves although sources are still being read.
    ///   - then: called once, later, unless this object is released before.
    init(_ recovery: SourceRecovery, on loop: EventLoop, seconds: Int, then: @escaping () -> Void) {
        self.recovery = recovery
        self.then = then
        // The loop runs at least until it fires.
        timer = Timer(on: loop, delay: UInt64(seconds) * 1000) { [weak self] in self?.end() }
        let ended = LoopBound { [weak self] in self?.end() }
        recovery.whenRead { [remote = loop.remote] in remote.post { ended.value() } }
    }

    /// What is being read, for the service manager.
    var text: String {
        let names = recovery.unread.map(\.text)
        return names.isEmpty ? "Starting" : "Reading " + Self.list(names)
    }

    /// Such as `a, b, c and 4 more`.
    static func list(_ names: [String]) -> String {
        let shown = names.prefix(mostNames).joined(separator: ", ")
        return names.count > mostNames ? "\(shown) and \(names.count - mostNames) more" : shown
    }

    private static let mostNames = 5

    private func end() {
        let then = then
        (self.then, timer) = (nil, nil)
        then?()
    }
}

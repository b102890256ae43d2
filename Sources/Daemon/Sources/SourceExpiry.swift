// SPDX-License-Identifier: MIT
import Calls
import Answers
import Sources
import SystemSupport
import EventLoop

/// Takes out features that are too old by their source's option `ttlSeconds`, a few times a second. Belongs
/// to the loop's thread; the work is done on the pool.
final class SourceExpiry {
    private let loop: EventLoop
    private let registry: SourceRegistry
    private var timer: Timer?
    private var isWorking = false

    /// How often features' ages are looked at, in milliseconds.
    private static let interval: UInt64 = 250

    init(loop: EventLoop, registry: SourceRegistry) {
        self.loop = loop
        self.registry = registry
        timer = Timer(on: loop, delay: Self.interval, every: Self.interval) { [weak self] in self?.look() }
        timer?.unreference()
    }

    private func look() {
        guard !isWorking, registry.mayExpire() else { return }
        isWorking = true
        loop.work { [registry] in
            registry.expire()
        } completion: { [weak self] in
            self?.isWorking = false
        }
    }
}

// SPDX-License-Identifier: MIT
import EventLoop
import Sources

/// Takes out features that are too old by their source's option `ttlSeconds`, a few times a second. Belongs
/// to the loop's thread; the work is done in the background.
final class SourceExpiry {
    private var timer: Timer?

    /// How often features' ages are looked at, in milliseconds.
    private static let interval: UInt64 = 250

    init(loop: EventLoop, registry: SourceRegistry) {
        timer = Timer(on: loop, delay: Self.interval, every: Self.interval) { registry.expireInBackground() }
        timer?.unreference()
    }
}

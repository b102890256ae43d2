// SPDX-License-Identifier: MIT
import EventLoop
import SourceEngine

/// Removes features that are older than their source's option `ttlSeconds`, a few times per second. Belongs
/// to the loop's thread; the work is done in the background.
final class SourceExpiry {
    private var timer: Timer?

    /// The interval between checks of features' ages, in milliseconds.
    private static let interval: UInt64 = 250

    init(loop: EventLoop, registry: SourceRegistry) {
        timer = Timer(on: loop, delay: Self.interval, every: Self.interval) { registry.expireInBackground() }
        timer?.unreference()
    }
}

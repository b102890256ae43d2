// SPDX-License-Identifier: MIT

/// Decides whether a loop that has answered polls its sockets for a moment instead of sleeping.
///
/// Waking a sleeping thread takes the system 5 to 30 microseconds, longest on a virtual machine whose processor has become idle. A
/// client that sends its next request as soon as it has its answer waits for that each time. Polling takes processor time instead, so a
/// loop polls only while input regularly follows on answers within a short time.
struct PollingPolicy {
    /// How long a loop polls at most, in nanoseconds; 0: never.
    let window: UInt64
    /// How often input has lately followed soon. Grows by one, and halves each time that none has.
    private var confidence = 0
    /// The confidence from which the loop polls. Doubles each time that polling is useless, since clients may need the processor on which
    /// the loop polls. Falls by one each time that it is not.
    private var threshold = leastThreshold
    /// Since when the loop has had nothing to do; nil while it has.
    private var idleSince: UInt64?

    private static let leastThreshold = 8
    private static let mostThreshold = 1024

    init(window: UInt64) { self.window = window }

    private var isConfident: Bool { window > 0 && confidence >= threshold }

    /// Input has arrived, at a time in nanoseconds.
    mutating func inputArrived(at time: UInt64) {
        guard let idleSince else { return }
        self.idleSince = nil
        // Without polling, the time that the loop took to wake is part of it.
        guard time &- idleSince <= 2 * window else {
            confidence /= 2
            return
        }
        if isConfident { threshold = max(threshold - 1, Self.leastThreshold) }
        confidence = min(confidence + 1, 2 * threshold)
    }

    /// All input has been processed.
    ///
    /// - Returns: until when to poll; nil if the loop should sleep.
    mutating func becameIdle(at time: UInt64) -> UInt64? {
        idleSince = time
        return isConfident ? time &+ window : nil
    }

    /// Nothing arrived while the loop polled, or another thread needed the processor.
    mutating func pollingWasUseless() {
        confidence = 0
        threshold = min(2 * threshold, Self.mostThreshold)
    }
}

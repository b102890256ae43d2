// SPDX-License-Identifier: MIT
import Synchronization

/// What the HTTP interface has done, over all loops. Safe from any thread.
package final class HTTPCounters: Sendable {
    /// Responses by the first digit of their status: 1xx here, then the others.
    private let informed = Atomic<UInt64>(0)
    private let succeeded = Atomic<UInt64>(0)
    private let redirected = Atomic<UInt64>(0)
    private let refused = Atomic<UInt64>(0)
    private let failed = Atomic<UInt64>(0)
    package let connections = Atomic<Int>(0)
    package let webSockets = Atomic<Int>(0)
    package let eventStreams = Atomic<Int>(0)
    /// Requests answered from cached tiles, and the bytes that these tiles use.
    package let tileHits = Atomic<UInt64>(0)
    package let tileBytes = Atomic<Int>(0)

    package init() {}

    /// Counts a response.
    package func count(status: Int) {
        switch status / 100 {
        case 1: informed.add(1, ordering: .relaxed)
        case 2: succeeded.add(1, ordering: .relaxed)
        case 3: redirected.add(1, ordering: .relaxed)
        case 4: refused.add(1, ordering: .relaxed)
        default: failed.add(1, ordering: .relaxed)
        }
    }

    /// Responses whose status begins with a digit from 1 to 5.
    func requests(_ digit: Int) -> UInt64 {
        switch digit {
        case 1: informed.load(ordering: .relaxed)
        case 2: succeeded.load(ordering: .relaxed)
        case 3: redirected.load(ordering: .relaxed)
        case 4: refused.load(ordering: .relaxed)
        default: failed.load(ordering: .relaxed)
        }
    }
}

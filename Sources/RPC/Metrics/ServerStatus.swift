// SPDX-License-Identifier: MIT
import JSON
import Synchronization

/// What the server reports about itself: whether it serves, since when, and the outcome of its last reload. Safe
/// from any thread.
package final class ServerStatus: Sendable {
    package static let serverName = "clusterd"

    let metrics: Metrics
    private let started = MonotonicClock.now()
    private let serving = Atomic<Bool>(true)
    private let reload = Mutex<Reload?>(nil)

    /// The outcome of a reload of the configuration.
    package struct Reload: Sendable {
        /// When it ended, in RFC 3339 format.
        package let time: String
        /// Why the configuration was not applied; nil if it was.
        package let error: String?

        package init(time: String, error: String?) {
            self.time = time
            self.error = error
        }
    }

    package init(metrics: Metrics) { self.metrics = metrics }

    /// False while the server shuts down.
    package var isServing: Bool { serving.load(ordering: .relaxed) }

    package func endServing() { serving.store(false, ordering: .relaxed) }

    package func reloaded(_ outcome: Reload) { reload.withLock { $0 = outcome } }

    var uptimeSeconds: Double { (Double(MonotonicClock.now() - started) / 1e6).rounded() / 1e3 }

    /// The last reload as `GetServerInfo` reports it; null if there was none.
    func lastReload(withError: Bool) -> JSONValue {
        guard let last = reload.withLock({ $0 }) else { return .null }
        var object: JSONObject = ["time": .string(last.time), "ok": .bool(last.error == nil)]
        if withError { object["error"] = last.error.map { .string($0) } }
        return .object(object)
    }
}

// SPDX-License-Identifier: MIT
import ClusterProtocol

/// A call whose params were read, and the data that its answer depends on. The same call again has the same answer as long as
/// these data are current, so a transport that has kept that answer need not read the params again.
package final class StandingCall: Sendable {
    let method: Method
    let request: CallRequest
    let version: DataVersion

    init(_ method: Method, _ request: CallRequest, _ version: DataVersion) {
        self.method = method
        self.request = request
        self.version = version
    }
}

extension PreparedCall {
    /// Nil if the answer depends on more than params and data.
    package var standing: StandingCall? {
        guard wait == nil, let version = answer?.version else { return nil }
        return StandingCall(method, opening.request, version)
    }
}

extension Caller {
    /// Whether the caller could make the call now and would get the answer from the same data.
    package func canRepeat(_ call: StandingCall) -> Bool {
        call.version.isCurrent && right >= call.method.declaration.right && !engine.isDraining
            && hasRoomForCall
    }

    /// Counts a call that the transport answered by itself.
    package func recordRepeated(_ call: StandingCall) {
        let now = MonotonicClock.now()
        engine.record(call.method, call.request, by: peer, .ok, since: now, until: now)
    }
}

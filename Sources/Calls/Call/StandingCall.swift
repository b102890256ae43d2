// SPDX-License-Identifier: MIT
import ClusterProtocol

/// A call whose params have been read, and the version of the data on which its answer depends. Repeating the
/// call gives the same answer as long as that version is current, so a transport that has kept the answer need
/// not read the params again.
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
    /// Nil if the answer depends on anything besides the params and the data.
    package var standing: StandingCall? {
        guard wait == nil, let version = answer?.version else { return nil }
        return StandingCall(method, opening.request, version)
    }
}

extension Caller {
    /// Whether the caller may make the call now and would get an answer from the same data.
    package func canRepeat(_ call: StandingCall) -> Bool {
        call.version.isCurrent && right >= call.method.declaration.right && !engine.isDraining
            && hasRoomForCall
    }

    /// Records a call that the transport answered from its own copy.
    package func recordRepeated(_ call: StandingCall) {
        let now = MonotonicClock.now()
        engine.record(call.method, call.request, by: peer, .ok, since: now, until: now)
    }
}

// SPDX-License-Identifier: MIT
import ClusterProtocol

/// A call opened by a transport.
package struct CallOpening: Sendable {
    /// The request. Its id is chosen by the transport and unique among the caller's open calls.
    package var request: CallRequest
    /// How the transport wraps the answer.
    package var encoder: any AnswerEncoder
    package var form: AnswerForm
    package var input: InputForm

    package init(
        _ request: CallRequest, encoder: any AnswerEncoder, form: AnswerForm = .json,
        input: InputForm = .items
    ) {
        self.request = request
        self.encoder = encoder
        self.form = form
        self.input = input
    }
}

/// The form of an answer.
package enum AnswerForm: Sendable {
    /// The JSON value that the protocol defines.
    case json
    /// The content itself if the method has one besides JSON: a tile's bytes, the metrics' text. Else JSON.
    case raw
}

/// The form of a stream from the client.
package enum InputForm: Sendable, Equatable {
    /// The protocol's items, each a JSON text.
    case items
    /// A file's bytes, cut anywhere.
    case bytes(mediaType: String)
}

/// A call whose params have been read, but which has not started.
package struct PendingCall {
    let opening: CallOpening
    package let method: Method
    let started: UInt64
    let params: Params
    let context: CallContext
    /// Nil for streams, and while the call waits.
    let answer: PreparedAnswer?
    /// What the call waits for before it begins.
    let wait: SourceWait?

    /// The number of the source revision that the answer will be made from; nil for streams and for answers from other data.
    package var revision: UInt64? { answer?.version?.revision }
}

/// What starting a call resulted in.
package enum CallStart {
    /// The answer has been appended to the bytes.
    case answered
    /// The answer, or the stream, will be delivered to the transport.
    case open(Call)
    case failed(RPCError)
}

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

extension PendingCall {
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

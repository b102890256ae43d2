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
    package var revision: UInt64? { answer?.revision }
}

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

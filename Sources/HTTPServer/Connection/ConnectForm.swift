// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Transports
import TypedContract

/// How a request speaks the Connect protocol (connectrpc.com, "Connect protocol reference").
struct ConnectForm: Equatable {
    /// Whether messages have prefixes, and the response ends with its status.
    let isStream: Bool
    /// Whether messages are protobuf's JSON.
    let isJSON: Bool

    /// Nil if the request is not Connect's: JSON without the field that Connect's clients send is the JSON contract's.
    init?(_ head: RequestHead) {
        switch head[.contentType].map(Negotiation.mediaType) {
        case "application/proto": (isStream, isJSON) = (false, false)
        case "application/json" where head.has(.connectVersion): (isStream, isJSON) = (false, true)
        case "application/connect+proto": (isStream, isJSON) = (true, false)
        case "application/connect+json": (isStream, isJSON) = (true, true)
        default: return nil
        }
    }

    init(isStream: Bool, isJSON: Bool) { (self.isStream, self.isJSON) = (isStream, isJSON) }

    var mediaType: StaticString {
        switch (isStream, isJSON) {
        case (false, false): "application/proto"
        case (false, true): "application/json"
        case (true, false): "application/connect+proto"
        case (true, true): "application/connect+json"
        }
    }
}

extension RequestFailure {
    /// The body as Connect's clients expect it.
    func connectBody(_ form: ConnectForm) -> ByteWriter {
        var bytes = ByteWriter()
        if isEndOfStream(form) {
            TypedAnswerEncoder.endStream(error, in: &bytes)
        } else {
            error.writeConnect(into: &bytes)
        }
        return bytes
    }

    /// Whether the failure is the last message of a response that succeeds: HTTP's own failures have a status.
    func isEndOfStream(_ form: ConnectForm) -> Bool { form.isStream && isOfCall }
}

extension ResponseHead {
    /// A stream of Connect has its status in its last message.
    mutating func asEndOfStream(_ form: ConnectForm) {
        (status, mediaType) = (.ok, form.mediaType)
    }
}

/// A unary call by GET: what the query says.
struct ConnectQuery {
    let form: ConnectForm
    /// The message, perhaps compressed.
    let message: [UInt8]
    let encoding: String

    init(_ query: ArraySlice<UInt8>?) throws(RequestFailure) {
        var values: [String: [UInt8]] = [:]
        for part in (query ?? []).split(separator: UInt8(ascii: "&")) {
            let pair = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(decoding: pair[0], as: UTF8.self)
            guard Self.names.contains(name) else {
                throw RequestFailure(
                    .badRequest, "The query has no \(name). Known are: \(Self.names.joined(separator: ", ")).")
            }
            guard let value = PercentEncoding.bytes(pair.count > 1 ? pair[1] : []) else {
                throw RequestFailure.malformed("The URL's query is malformed: it is not percent-encoded.")
            }
            values[name] = value
        }
        func text(_ name: String) -> String { String(decoding: values[name] ?? [], as: UTF8.self) }
        guard ["", "v1"].contains(text("connect")) else {
            throw RequestFailure(.badRequest, "The query's connect must be v1.")
        }
        guard ["proto", "json"].contains(text("encoding")) else {
            throw RequestFailure(.badRequest, "The query's encoding must be proto or json.")
        }
        guard let message = values["message"] else {
            throw RequestFailure(.badRequest, "The query has no message.")
        }
        form = ConnectForm(isStream: false, isJSON: text("encoding") == "json")
        encoding = text("compression")
        guard text("base64") == "1" else {
            self.message = message
            return
        }
        guard let decoded = Base64.decode(message.span) else {
            throw RequestFailure(.badRequest, "The query's message is not base64.")
        }
        self.message = decoded
    }

    private static let names = ["connect", "encoding", "message", "base64", "compression"]
}

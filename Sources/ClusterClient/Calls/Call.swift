// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// An open call; when the last reference to it is released, the call is cancelled on the server.
final class Call: Sendable {
    private let client: Client
    private let id: Int64
    private let inbox: CallInbox
    private let timer: Task<Void, Never>?

    /// The server enforces the deadline; this side waits this much longer before it gives up on the server.
    private static let grace = Duration.seconds(1)

    /// Sends the message that opens the call.
    init(
        _ client: Client, _ method: String, _ params: CallParams, kind: MethodDeclaration.Kind,
        _ options: CallOptions
    ) throws {
        let connection = client.connection
        (id, inbox) = try connection.open(method, params, kind: kind, options: options)
        self.client = client
        let id = id
        timer = options.timeout.map { timeout in
            Task {
                guard (try? await Task.sleep(for: timeout + Call.grace)) != nil else { return }
                connection.cancel(
                    id: id, with: RPCError(.deadlineExceeded, "the daemon did not answer within \(timeout)"))
            }
        }
    }

    deinit {
        timer?.cancel()
        connection.cancel(id: id, with: CancellationError())
    }

    private var connection: ClientConnection { client.connection }

    /// The next item; nil when the stream has ended successfully.
    func nextItem() async throws -> Answer? {
        switch try await next() {
        case .item(let item): item
        case .last: nil
        }
    }

    /// The answer, which is the last message.
    func result() async throws -> Answer {
        while true {
            if case .last(let answer) = try await next() { return answer }
        }
    }

    private func next() async throws -> CallInbox.Event {
        try await withTaskCancellationHandler {
            try await inbox.next()
        } onCancel: {
            cancel()
        }
    }

    /// Sends an item once there is room. If the call has failed, throws its error.
    func send(_ write: (inout ByteWriter) -> Void) async throws {
        await connection.waitForRoom()
        try Task.checkCancellation()
        if let failure = inbox.failure { throw failure }
        connection.sendItem(id: id, write)
    }

    func endItems() { connection.endItems(id: id) }

    func cancel() { connection.cancel(id: id, with: CancellationError()) }
}

/// A JSON value as the server sent it: bytes that are parsed only on request.
public struct Answer: Sendable, Equatable {
    /// The value's own text, UTF-8.
    public let bytes: [UInt8]

    public init(bytes: [UInt8]) { self.bytes = bytes }

    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The text on one line and its end: features keep the line breaks with which they were sent, between tokens.
    package var line: [UInt8] {
        bytes.map { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") ? UInt8(ascii: " ") : $0 }
            + [UInt8(ascii: "\n")]
    }

    /// The value as a tree. O(length).
    public func value() throws(JSONError) -> JSONValue {
        try JSONReader.parse(bytes, maximumDepth: ServerMessage.maximumDepth)
    }
}

/// The params of a call: an object, or its JSON text.
///
/// Text is sent unchanged, so that integers beyond 2^53 keep their digits.
public struct CallParams: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    let text: String

    public init(_ object: JSONObject) { text = object.isEmpty ? "" : JSONValue.object(object).text }

    public init(dictionaryLiteral members: (String, JSONValue)...) {
        self.init(JSONObject(members.map { (key: $0.0, value: $0.1) }))
    }

    /// - Parameter text: the text of a JSON object. It is not checked here: the server reports text that is not JSON.
    public init(text: String) { self.text = text }
}

/// Options of a call.
public struct CallOptions: Sendable, Equatable {
    /// How long to wait for the answer. After that the server stops work and the call fails with
    /// `DEADLINE_EXCEEDED`. nil: no limit.
    public var timeout: Duration?
    /// Whether the server may compress the answer when that makes it smaller.
    public var acceptsCompression: Bool

    public init(timeout: Duration? = nil, acceptsCompression: Bool = false) {
        self.timeout = timeout
        self.acceptsCompression = acceptsCompression
    }
}

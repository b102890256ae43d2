// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Synchronization

/// Carries out the call table's actions: writes messages to the transport, and delivers received messages to the calls.
final class ClientConnection: TransportOwner {
    private let table = Mutex(CallTable<CallInbox>())
    private let transport: Transport
    private let gauge: InboxGauge

    private init(_ transport: Transport) {
        self.transport = transport
        gauge = InboxGauge { transport.resumeReading() }
    }

    static func connect(path: String) async throws(RPCError) -> ClientConnection {
        try await Transport.connect(path: path) { ClientConnection($0) }
    }

    func close() { transport.close(RPCError(.cancelled, "the connection was closed by this client")) }

    // MARK: Calls

    /// Sends the message that opens a call.
    func open(
        _ method: String, _ params: CallParams, kind: MethodDeclaration.Kind, options: CallOptions
    ) throws -> (id: Int64, inbox: CallInbox) {
        try Task.checkCancellation()
        let inbox = CallInbox(gauge: gauge)
        let id: Int64
        switch table.withLock({ $0.open(inbox, kind: kind) }) {
        case .open(let opened): id = opened
        case .refuse(let error): throw error
        }
        let milliseconds = options.timeout.map { timeout in
            Int64(exactly: (timeout / .milliseconds(1)).rounded(.up)) ?? .max
        }
        let name = method.contains(".") ? method : "\(MethodDeclaration.package).\(method)"
        var request = CallRequest(
            id: id, method: name, params: [:], timeoutMilliseconds: milliseconds,
            acceptsDeflate: options.acceptsCompression)
        request.paramsText = Array(params.text.utf8)
        send(.open(request))
        return (id, inbox)
    }

    func waitForRoom() async { await transport.waitForRoom() }

    /// Sends the JSON object that `write` writes as an item; does nothing if the call is over.
    func sendItem(id: Int64, _ write: (inout ByteWriter) -> Void) {
        guard case .send = table.withLock({ $0.sendItem(id: id) }) else { return }
        transport.send { bytes in
            let frame = FrameEncoder(beginningIn: &bytes)
            bytes.append("{\"id\":")
            bytes.append(integer: id)
            bytes.append(",\"item\":")
            write(&bytes)
            bytes.append("}")
            frame.end(in: &bytes)
        }
    }

    func endItems(id: Int64) {
        if case .send = table.withLock({ $0.endItems(id: id) }) { send(.end(id: id)) }
    }

    /// Ends the call at once on this side with the error, and cancels it on the server.
    func cancel(id: Int64, with error: any Error) {
        guard case .sendCancel(let inbox) = table.withLock({ $0.cancel(id: id) }) else { return }
        send(.cancel(id: id))
        inbox.finish(.failure(error))
        inbox.discard()
    }

    private func send(_ message: ClientMessage) {
        transport.send { message.write(into: &$0) }
    }

    // MARK: Received messages

    var transportShouldPause: Bool { gauge.anyIsFull }

    func transportReceived(_ message: ServerMessage) {
        switch message {
        case .result(let id, let bytes), .end(let id, let bytes):
            act(table.withLock { $0.receiveLast(id: id) }, .success(Answer(bytes: bytes)))
        case .item(let id, let bytes):
            act(table.withLock { $0.receiveItem(id: id) }, .success(Answer(bytes: bytes)))
        case .error(let id?, let error):
            act(table.withLock { $0.receiveLast(id: id) }, .failure(error))
        case .error(nil, let error):
            // The call that it belongs to is unknown, so no call can be waited for any longer.
            transportClosed(error)
            transport.close(error)
        case .goaway:
            table.withLock {
                $0.retire(RPCError(.unavailable, "the server is shutting down: connect again"))
            }
        }
    }

    private func act(_ action: CallTable<CallInbox>.OnMessage, _ outcome: Result<Answer, any Error>) {
        switch action {
        case .deliver(let inbox):
            if case .success(let item) = outcome { inbox.deliver(item) }
        case .finish(let inbox): inbox.finish(outcome)
        case .ignore: break
        case .violation(let error):
            transportClosed(error)
            transport.close(error)
        }
    }

    func transportClosed(_ error: RPCError) {
        for inbox in table.withLock({ $0.lose(error) }) { inbox.finish(.failure(error)) }
    }
}

// SPDX-License-Identifier: MIT
import RPC
import ClusterProtocol
import JSON
import SystemSupport

/// Takes messages from the received bytes, and acts on them.
extension SocketConnection {
    /// Handles one message; returns false if none is complete, or a large one is being read.
    func takeMessage() -> Bool {
        do throws(RPCError) {
            if let frame = try decoder.takeLarge(from: LargeMessage.leastBytes, compressed: Self.largeCompressed) {
                readOnPool(frame)
                return false
            }
            let server = server
            var message: ReadMessage?
            guard try decoder.lendNext({ text in message = Self.read(text, server.parser) }),
                let taken = message.take()
            else { return false }
            handle(taken)
            return true
        } catch {
            fail(error)
            return false
        }
    }

    /// Not a `Result`, because copying and destroying a generic type looks up its metadata at every call.
    private enum ReadMessage {
        case message(ClientMessage)
        case failure(EnvelopeError)
    }

    private static func read(_ text: Span<UInt8>, _ parser: JSONParser) -> ReadMessage {
        do throws(EnvelopeError) {
            return .message(try ClientMessage.read(text, parser: parser))
        } catch {
            return .failure(error)
        }
    }

    /// The same for messages that must be inflated.
    private static let largeCompressed = 1 << 10

    /// Reads a large message on the pool. The connection's further messages wait for it, so that messages keep
    /// their order.
    private func readOnPool(_ frame: HeldFrame) {
        life.beganLarge()
        messages &+= 1
        largeInput.bytes = frame.count
        let isHuge = frame.mostBytes > Self.hugeMessage
        let lent = isHuge ? nil : largeParser ?? LargeParser()
        if !isHuge { largeParser = lent }
        let trim: @Sendable () -> Void = { Allocator.trim() }
        caller.readOnPool(
            taking: frame.mostBytes * LargeMessage.memoryPerByte, giveBack: isHuge ? trim : nil
        ) {
            Result { () throws(RPCError) in
                try frame.withText { Self.readBounded($0, lent?.parser ?? JSONParser()) }.get()
            }
        } completion: { [weak self] result in
            self?.didRead(result)
        }
    }

    /// For messages beyond this size in bytes, the memory for reading is given back to the system.
    private static let hugeMessage = 2 << 20

    /// A parser that the pool borrows for one message after another. If each message of an import had its own, the system
    /// would have to clear its memory each time.
    ///
    /// A connection's next message waits for the previous one, and libuv's hand-over orders the threads, so
    /// `@unchecked Sendable` is sound.
    final class LargeParser: @unchecked Sendable {
        let parser = JSONParser()
    }

    /// Frees the memory for large messages once no call is open.
    func freeLargeParser() { if caller.openCalls == 0 { largeParser = nil } }

    /// Reads a message, unless it has so many values that reading it would use too much memory.
    private static func readBounded(_ text: Span<UInt8>, _ parser: JSONParser) -> Result<ReadMessage, RPCError> {
        LargeMessage.hasTooManyValues(text) ? .failure(tooManyValues) : .success(read(text, parser))
    }

    private static let tooManyValues = RPCError(
        .resourceExhausted,
        "The message has more than \(LargeMessage.mostValues) values. Send it in parts. The connection is closed.")

    private func didRead(_ result: Result<ReadMessage, RPCError>) {
        largeInput.bytes = 0
        guard life.endedLarge() else { return }
        switch result {
        case .success(let message): handle(message)
        case .failure(let error): fail(error)
        }
        freeLargeParser()
        process()
    }

    private func handle(_ message: consuming ReadMessage) {
        switch consume message {
        case .message(.open(let request)): open(request)
        case .message(.item(let id, let item)): caller.receive(item: item, for: id)
        case .message(.end(let id)): caller.receiveEnd(for: id)
        case .message(.cancel(let id)): caller.receiveCancel(for: id)
        case .failure(let failure): refuse(failure)
        }
    }

    /// Answers a message that cannot be used: with an error under its id if that is valid, else with one that
    /// belongs to no call.
    private func refuse(_ failure: EnvelopeError) {
        server.engine.metrics.update { $0.protocolErrors += 1 }
        if let id = failure.id {
            if let error = caller.receive(unusable: failure, id: id) {
                ServerMessage.write(error: error, id: id, into: &output)
            }
            return
        }
        ServerMessage.write(error: failure.error, id: nil, into: &output)
        caller.receive(unreadable: failure)
    }
}

// SPDX-License-Identifier: MIT
import JSON

/// A call whose client sends many messages and gets one answer. Releasing it before `finish` cancels it.
public struct ClientStreamCall: Sendable {
    private let call: Call

    init(_ call: Call) { self.call = call }

    /// Sends a message: the text of a JSON object. Waits while too many bytes are queued for sending.
    ///
    /// - Throws: the call's error, if the server has rejected the call meanwhile.
    public func send(_ item: [UInt8]) async throws { try await call.send { $0.append(contentsOf: item) } }

    public func send(_ item: JSONObject) async throws { try await call.send { $0.append(.object(item)) } }

    /// Sends the JSON object that `write` writes directly into the outgoing bytes.
    func send(_ write: (inout ByteWriter) -> Void) async throws { try await call.send(write) }

    /// Declares that everything is sent, and waits for the answer.
    public func finish() async throws -> Answer {
        call.endItems()
        return try await call.result()
    }

    public func cancel() { call.cancel() }
}

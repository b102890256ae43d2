// SPDX-License-Identifier: MIT
import JSON

/// A call whose client sends many messages and gets one answer. Let go of before `finish`, it is cancelled.
public struct ClientStreamCall: Sendable {
    private let call: Call

    init(_ call: Call) { self.call = call }

    /// Sends a message: a JSON object's text. Waits while too many bytes are on their way.
    ///
    /// - Throws: what the call has failed with, where the server has refused it meanwhile.
    public func send(_ item: [UInt8]) async throws { try await call.send { $0.append(contentsOf: item) } }

    public func send(_ item: JSONObject) async throws { try await call.send { $0.append(.object(item)) } }

    /// Sends what `write` writes, a JSON object, straight into the outgoing bytes.
    func send(_ write: (inout ByteWriter) -> Void) async throws { try await call.send(write) }

    /// Says that all is sent, and waits for the answer.
    public func finish() async throws -> Answer {
        call.endItems()
        return try await call.result()
    }

    public func cancel() { call.cancel() }
}

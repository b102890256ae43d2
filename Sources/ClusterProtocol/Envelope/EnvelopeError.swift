// SPDX-License-Identifier: MIT

/// A message that cannot be used, and the id under which to answer if the message has a valid one.
public struct EnvelopeError: Error, Sendable, Equatable {
    public let id: Int64?
    public let error: RPCError
    /// Whether the message was meant to open a call. If so, it does not concern an open call with the same id.
    public let isOpening: Bool

    public init(id: Int64?, error: RPCError, isOpening: Bool = false) {
        self.id = id
        self.error = error
        self.isOpening = isOpening
    }
}

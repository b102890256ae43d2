// SPDX-License-Identifier: MIT

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

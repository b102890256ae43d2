// SPDX-License-Identifier: MIT

/// How large and how slow a request may be.
struct RequestLimits: Sendable, Equatable {
    /// Bytes of a request's line and header fields.
    var headBytes = 16 << 10
    /// Bytes of its target.
    var targetBytes = 8 << 10
    /// Bytes of a body that is read as a whole.
    var bodyBytes = 16 << 20
}

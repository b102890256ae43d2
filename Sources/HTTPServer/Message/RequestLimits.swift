// SPDX-License-Identifier: MIT

/// Limits on the size of requests.
struct RequestLimits: Sendable, Equatable {
    /// The maximum size in bytes of a request line and header fields.
    var headBytes = 16 << 10
    /// The maximum size in bytes of the target.
    var targetBytes = 8 << 10
    /// The maximum size in bytes of a body that is read as a whole.
    var bodyBytes = 16 << 20
}

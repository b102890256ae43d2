// SPDX-License-Identifier: MIT

/// The progress of an import.
public struct ImportProgress: Sendable, Equatable {
    /// Bytes read from the file as stored (compressed or not).
    public var bytesRead: Int
    /// Features sent.
    public var features: Int
    /// Whether everything is sent and the server's answer is pending.
    public var isSent: Bool
}

// SPDX-License-Identifier: MIT

/// An answer that has been received completely.
public struct LoadAnswer: Equatable {
    /// The slot of the request that it answers.
    public let slot: Int
    /// As received, framing included.
    public let bytes: Int
    public let isError: Bool
}

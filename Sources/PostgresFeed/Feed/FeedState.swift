// SPDX-License-Identifier: MIT

/// What a feed is doing.
public enum FeedState: Sendable, Equatable {
    case connecting
    /// It cannot continue now and retries by itself. The text gives the reason for a person; it contains no
    /// secrets.
    case waiting(String)
    /// The table is being copied.
    case copying
    /// Changes arrive as they are committed.
    case following
    /// A person must act first; the text says what is wrong and contains the SQL. It is checked again from
    /// time to time.
    case failed(String)
}

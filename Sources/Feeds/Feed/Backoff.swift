// SPDX-License-Identifier: MIT

/// The pauses between attempts: they double from 0.1 to 30 seconds, with jitter, and start again after success.
struct Backoff {
    private static let first = 0.1
    private static let longest = 30.0

    private var seconds = first

    mutating func next() -> Duration {
        defer { seconds = min(Self.longest, seconds * 2) }
        return .milliseconds(Int(seconds * 1000 * Double.random(in: 0.75...1)))
    }

    mutating func reset() { seconds = Self.first }
}

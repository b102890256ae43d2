// SPDX-License-Identifier: MIT
import Synchronization

/// Counts the bytes that clients' input holds, over all connections. Safe from any thread.
package final class InputBudget: Sendable {
    private let use: UserShare.Use
    private let held = Atomic<Int>(0)

    /// - Parameter use: what the budget counts for each user.
    package init(_ use: UserShare.Use) { self.use = use }

    package var bytes: Int { held.load(ordering: .relaxed) }

    package func add(_ count: Int, of share: UserShare) {
        held.add(count, ordering: .relaxed)
        share.add(count, to: use)
    }

    /// Whether a user's connections hold too much: the total exceeds the limit, and the user's share exceeds the
    /// user's part of it.
    package func isExceeded(by share: UserShare, limit: Int) -> Bool {
        bytes > limit && share[use] > limit / Self.usersPart
    }

    /// The part of the limit that each user has, as a divisor.
    private static let usersPart = 8
}

/// Bytes of input that one connection holds, counted in the budget of all connections. Set it to 0 before releasing it.
package struct InputClaim {
    private let budget: InputBudget
    private let share: UserShare
    package var bytes = 0 {
        didSet { if bytes != oldValue { budget.add(bytes - oldValue, of: share) } }
    }

    package init(in budget: InputBudget, of share: UserShare) { (self.budget, self.share) = (budget, share) }
}

/// Limits on reading large messages, for all transports.
package enum LargeMessage {
    /// Messages from this size in bytes would block the loop for hundreds of microseconds or more.
    package static let leastBytes = 256 << 10
    /// The maximum memory that a message uses while it is read, for each of its bytes.
    package static let memoryPerByte = 12
    /// The maximum number of values in a message: each uses tens of bytes when parsed.
    package static let mostValues = 3 << 20

    /// Whether a text may have more values than may be read. O(length), at a few gigabytes per second.
    package static func hasTooManyValues(_ text: Span<UInt8>) -> Bool {
        // A value takes at least two bytes, including the mark before it.
        text.count > 2 * mostValues && valuesAtMost(text) > mostValues
    }

    /// An upper bound on the number of values in a text: the number of marks before values.
    private static func valuesAtMost(_ text: Span<UInt8>) -> Int {
        var count = 1
        for index in text.indices {
            let byte = text[index]
            let isMark = byte == UInt8(ascii: ",") || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{")
            count &+= isMark ? 1 : 0
        }
        return count
    }
}

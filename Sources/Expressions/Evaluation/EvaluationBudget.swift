// SPDX-License-Identifier: MIT
import JSON
import Synchronization

/// The number of steps that evaluating an expression may take, and a check for cancellation.
///
/// A step is one evaluated operator, or 64 bytes of text that an operator reads; it takes about 0.1 µs.
/// Threads that evaluate the same expression for different rows share one budget. They check for cancellation
/// at least every `portion` steps, also within a row.
public final class EvaluationBudget: Sendable {
    /// The steps that a thread takes from the budget at once: about 0.1 ms of work.
    static let portion = 1024

    /// The steps of the whole budget.
    public let steps: Int
    private let left: Atomic<Int>
    private let wasCancelled = Atomic(false)
    public let isCancelled: @Sendable () -> Bool

    /// - Parameters:
    ///   - steps: the steps of all rows together. Unlimited by default; the limit of each row still applies.
    ///   - isCancelled: called from any thread, up to a few thousand times per second. Once true it must stay true.
    public init(steps: Int = .max, isCancelled: @escaping @Sendable () -> Bool = { false }) {
        self.steps = steps
        left = Atomic(steps)
        self.isCancelled = isCancelled
    }

    /// Takes steps from the budget. Returns false if the evaluation must stop.
    func take(_ count: Int) -> Bool {
        if isCancelled() {
            wasCancelled.store(true, ordering: .relaxed)
            return false
        }
        guard steps != .max else { return true }
        // The count cannot wrap around: no thread takes more once it is negative, and there are few threads.
        guard left.load(ordering: .relaxed) >= 0 else { return false }
        return left.subtract(count, ordering: .relaxed).newValue >= 0
    }

    /// Throws if the evaluation was cancelled or the budget is used up.
    public func check() throws(EvaluationStop) {
        if wasCancelled.load(ordering: .relaxed) || isCancelled() { throw .cancelled }
        if left.load(ordering: .relaxed) < 0 { throw .exhausted(steps: steps) }
    }
}

/// Why the evaluation of an expression stopped before all rows were evaluated.
public enum EvaluationStop: Error, Sendable, Equatable {
    /// The caller no longer needs the values.
    case cancelled
    /// The rows need more than this many steps together.
    case exhausted(steps: Int)
}

/// How often each evaluation error occurred, by message. Messages may contain values of features: their
/// number and length are limited.
package struct ErrorCounts: Sendable {
    package private(set) var byMessage: [String: Int] = [:]

    static let mostMessages = 256
    static let otherErrors = "Other errors of evaluation."
    private static let longestMessage = 1024

    package init() {}

    package mutating func note(_ message: String) {
        var message = message
        if message.utf8.count > Self.longestMessage {
            message = String(message.prefix(Self.longestMessage / 8)) + "…"
        }
        if byMessage.count >= Self.mostMessages, byMessage[message] == nil { message = Self.otherErrors }
        byMessage[message, default: 0] += 1
    }
}

/// The memory that the values which an expression makes for many rows may take together.
package struct ValueRoom: Sendable {
    private let bytes: Int
    private var left: Int

    /// - Parameter rows: how many rows or clusters get a value.
    package init(rows: Int) {
        bytes = ExpressionLimits.valueBytes(rows: rows)
        left = bytes
    }

    /// Throws if a value does not fit beside the earlier ones.
    package mutating func take(_ value: JSONValue) throws(EvaluationError) {
        let count = value.contentBytes
        guard count <= left else {
            throw EvaluationError(
                "The values of an expression may have \(bytes) bytes together; the remaining ones are null.")
        }
        left -= count
    }
}

extension JSONValue {
    /// The approximate size of its text, elements and members in bytes; 0 for numbers, booleans and null.
    fileprivate var contentBytes: Int {
        let one = MemoryLayout<JSONValue>.stride
        return switch self {
        case .null, .bool, .number: 0
        case .string(let text): text.utf8.count
        case .array(let items): items.reduce(0) { $0 + one + $1.contentBytes }
        case .object(let object):
            object.members.reduce(0) { $0 + one + $1.key.utf8.count + $1.value.contentBytes }
        }
    }
}

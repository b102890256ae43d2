// SPDX-License-Identifier: MIT

extension EventLoop {
    /// Runs `body` on the thread pool, then passes its value to `completion` on the loop. The loop does not end before
    /// that.
    ///
    /// - Parameter isLong: whether other work of the pool should preempt it as soon as it comes, if the system can do that.
    public func compute<Value: Sendable>(
        isLong: Bool = false, _ body: @escaping @Sendable () -> Value, completion: @escaping (Value) -> Void
    ) {
        let outcome = Outcome<Value>()
        work(isLong: isLong) {
            outcome.value = body()
        } completion: {
            if let value = outcome.value { completion(value) }
        }
    }
}

/// The value of a job. The pool writes it and the loop reads it afterwards; libuv orders the two, so
/// `@unchecked Sendable` is sound.
private final class Outcome<Value>: @unchecked Sendable {
    var value: Value?
}

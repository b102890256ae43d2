// SPDX-License-Identifier: MIT

/// The loop that a connection's calls run on. Calls know no other loop, so that tests can step one by hand.
package protocol CallLoop: AnyObject {
    /// Runs `body` on a thread of the pool, then `completion` on the loop's.
    func work(_ body: @escaping @Sendable () -> Void, completion: @escaping () -> Void)

    /// Calls back on the loop's thread for as long as the result is kept.
    ///
    /// - Parameters:
    ///   - delay: until the first call, in milliseconds.
    ///   - interval: between further calls, in milliseconds; 0: there are none.
    func timer(after delay: UInt64, every interval: UInt64, _ body: @escaping () -> Void) -> AnyObject

    /// Runs a function on the loop's thread, soon. Safe from any thread.
    var post: @Sendable (@escaping @Sendable () -> Void) -> Void { get }
}

/// Carries something that belongs to a loop's thread through a closure that another thread passes on.
///
/// It is opened only on the loop's thread, by whoever made it; that is why it may be sent.
package struct OnLoop<Value>: @unchecked Sendable {
    package let value: Value
    package init(_ value: Value) { self.value = value }
}

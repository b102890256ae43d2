// SPDX-License-Identifier: MIT

/// The loop that a connection's calls run on. Calls use only this protocol, so that tests can step a loop by hand.
package protocol CallLoop: AnyObject {
    /// Runs `body` on a thread of the pool, then `completion` on the loop's.
    func work(_ body: @escaping @Sendable () -> Void, completion: @escaping () -> Void)

    /// Calls back on the loop's thread as long as the result is retained.
    ///
    /// - Parameters:
    ///   - delay: until the first call, in milliseconds.
    ///   - interval: between further calls, in milliseconds; 0 for none.
    func timer(after delay: UInt64, every interval: UInt64, _ body: @escaping () -> Void) -> AnyObject

    /// Runs a function on the loop's thread soon. Safe from any thread.
    var post: @Sendable (@escaping @Sendable () -> Void) -> Void { get }

    /// The time that the loop has spent polling its sockets instead of sleeping, in nanoseconds.
    var pollingNanoseconds: UInt64 { get }
}

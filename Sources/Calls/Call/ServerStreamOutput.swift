// SPDX-License-Identifier: MIT

/// Through this a server stream asks to send and to run work.
package protocol ServerStreamOutput: AnyObject, Sendable {
    /// Requests a call of `next` as soon as the transport can accept an item. Repeated requests before that call
    /// have no effect, so a slow client is sent fewer items and its queue does not grow. Safe from any thread.
    func wantToSend()

    /// Counts the bytes of an item that waits for its client, until `next` is called or the call ends. On the loop's
    /// thread.
    func hold(bytes: Int)

    /// Requests a call of `next` after a delay in nanoseconds; a repeated request replaces the delay. On the
    /// loop's thread.
    func wantToSend(after delay: UInt64)

    /// Runs `body` on the pool, queued among the caller's jobs, then `completion` on the loop. Neither runs once
    /// the call is over. On the loop's thread.
    ///
    /// - Parameter body: receives the maximum size of an item in bytes.
    func runOnPool(
        _ body: @escaping @Sendable (_ mostBytes: Int) -> Void, completion: @escaping () -> Void)
}

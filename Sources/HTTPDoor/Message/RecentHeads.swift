// SPDX-License-Identifier: MIT

/// The heads that were read last on one loop. Clients that poll, proxies and health checks send the same bytes again and
/// again, which then need not be parsed again. Belongs to the loop's thread.
///
/// Only heads are kept that say all of their request: without a body, an upgrade, or anything to be answered before.
final class RecentHeads {
    private var heads: [RequestHead] = []
    private var oldest = 0

    private static let count = 4
    private static let largest = 2 << 10

    /// A head of exactly the bytes that begin these.
    func head(beginning bytes: UnsafeRawBufferPointer) -> RequestHead? {
        for head in heads where head.isWhole(at: bytes) { return head }
        return nil
    }

    func keep(_ head: RequestHead) {
        guard !head.hasBody, !head.wantsUpgrade, head.keepsAlive, !head.has(.expect),
            head.byteCount <= Self.largest
        else { return }
        if heads.count < Self.count { return heads.append(head) }
        heads[oldest] = head
        oldest = (oldest + 1) % Self.count
    }

    /// To be called if what is a valid head has changed, or if nobody is connected.
    func clear() {
        heads = []
        oldest = 0
    }
}

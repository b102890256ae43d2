// SPDX-License-Identifier: MIT

/// The most recently read heads on one loop. Clients that poll, proxies and health checks send the same bytes
/// repeatedly, which then need not be parsed again. Belongs to the loop's thread.
///
/// Only heads that describe their request completely are kept: without a body, an upgrade, or an expectation to
/// answer first.
final class RecentHeads {
    private var heads: [RequestHead] = []
    private var oldest = 0

    private static let count = 4
    private static let largest = 2 << 10

    /// A recent head whose bytes are exactly the beginning of these.
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

    /// Discards all heads. Call it when the rules for valid heads have changed, or when nobody is connected.
    func clear() {
        heads = []
        oldest = 0
    }
}

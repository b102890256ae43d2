// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import Bench

@Suite("What a daemon uses")
struct DaemonUsageTests {
    @Test("the memory and processor time of a socket's other process are found")
    func readsTheProcess() {
        var pair: [Int32] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { for descriptor in pair { close(descriptor) } }
        let usage = DaemonUsage(descriptor: pair[0])
        #expect(usage.memoryBytes > 1 << 20)
        // The system counts in hundredths of a second.
        var sum = 0
        while usage.processorSeconds == 0, sum < 1 << 24 { sum += 1 }
        #expect(usage.processorSeconds > 0)
    }
}

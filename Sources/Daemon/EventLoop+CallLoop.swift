// SPDX-License-Identifier: MIT
import RPC
import EventLoop

extension EventLoop: CallLoop {
    package func timer(
        after delay: UInt64, every interval: UInt64, _ body: @escaping () -> Void
    ) -> AnyObject {
        let timer = Timer(on: self, delay: delay, every: interval, body)
        // Connections keep the loop running; timers of calls do not.
        timer.unreference()
        return timer
    }

    package var post: @Sendable (@escaping @Sendable () -> Void) -> Void {
        { [remote] in remote.post($0) }
    }
}

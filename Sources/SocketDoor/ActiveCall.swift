// SPDX-License-Identifier: MIT
import Calls
import ClusterProtocol
import EventLoop

/// A call that was not answered within the turn that brought it. Belongs to the loop's thread.
final class ActiveCall {
    let request: CallRequest
    let context: CallContext
    let started: UInt64
    /// When the first item of a stream went out: it may go on for days, and that is not slowness.
    var answered: UInt64?
    var work: Work
    var deadlineTimer: Timer?

    enum Work {
        /// On the pool, or waiting for it.
        case unary
        case clientStream(ClientStreamCall)
        case serverStream(any ServerStream, StreamOutput)
    }

    init(request: CallRequest, context: CallContext, started: UInt64, work: Work) {
        self.request = request
        self.context = context
        self.started = started
        self.work = work
    }
}

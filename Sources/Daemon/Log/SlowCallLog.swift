// SPDX-License-Identifier: MIT
import Calls
import ClusterProtocol
import Answers
import Sources
import SystemSupport
import JSON

/// A line for each call that takes long: which source, which method, how large its params, how long. Never
/// what the params or the answer hold.
struct SlowCallLog {
    private let log: Log
    private let nanoseconds: UInt64

    /// - Parameter milliseconds: calls that take longer get a line; 0: none do.
    init(_ log: Log, milliseconds: Int) {
        self.log = log
        nanoseconds = milliseconds > 0 ? UInt64(min(milliseconds, 1 << 40)) * 1_000_000 : .max
    }

    func callEnded(_ call: EndedCall) {
        guard call.nanoseconds > nanoseconds else { return }
        log.write(
            .notice, "a call took long",
            [
                "method": .string(call.method.fullName), "source": CallLog.source(of: call.request),
                "status": .string(call.status.name), "paramsBytes": .number(Double(call.request.paramsBytes)),
                "ms": .number(Double(call.nanoseconds / 100_000) / 10),
            ])
    }
}

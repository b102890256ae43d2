// SPDX-License-Identifier: MIT
import Answers
import Calls
import ClusterProtocol
import JSON
import Sources

/// Logs each call that takes long: source, method, size of the params, duration. It never logs the content of
/// params or answers.
struct SlowCallLog {
    private let log: Log
    /// Calls that take longer get a line.
    let nanoseconds: UInt64

    /// - Parameter milliseconds: calls that take longer are logged; 0: none.
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

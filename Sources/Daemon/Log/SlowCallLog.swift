// SPDX-License-Identifier: MIT
import Calls
import ClusterProtocol
import Answers
import Sources
import SystemSupport
import JSON

/// A line for each call that takes long: which source, which method, how large its params, how long. Never
/// what the params or the answer hold.
struct SlowCallLog: CallObserver {
    private let log: Log
    private let nanoseconds: UInt64

    /// - Parameter milliseconds: calls that take longer get a line; 0: none do.
    init(_ log: Log, milliseconds: Int) {
        self.log = log
        nanoseconds = milliseconds > 0 ? UInt64(min(milliseconds, 1 << 40)) * 1_000_000 : .max
    }

    func callEnded(
        _ request: CallRequest, _ method: MethodDeclaration, by peer: Peer, _ status: StatusCode,
        nanoseconds taken: UInt64
    ) {
        guard taken > nanoseconds else { return }
        var source = JSONValue.null
        if case .string(let name)? = request.params["source"], SourceName(name) != nil {
            source = .string(name)
        }
        log.write(
            .notice, "a call took long",
            [
                "method": .string(request.method), "source": source, "status": .string(status.name),
                "paramsBytes": .number(Double(request.paramsBytes)),
                "ms": .number(Double(taken / 100_000) / 10),
            ])
    }
}

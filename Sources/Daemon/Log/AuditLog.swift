// SPDX-License-Identifier: MIT
import Calls
import ClusterProtocol
import JSON

/// Writes a line for each call that was denied and each that changes sources: who, what, which source, how much. Never
/// what the params or the answer hold.
struct AuditLog {
    private let log: Log

    init(_ log: Log) { self.log = log }

    func callEnded(_ call: EndedCall) {
        let isDenied = call.status == .permissionDenied
        guard isDenied || call.method.isChange else { return }
        log.write(
            isDenied ? .warning : .info, isDenied ? "a call was denied" : "a call changed a source",
            [
                "uid": .number(Double(call.peer.userID)), "pid": .number(Double(call.peer.processID)),
                "method": .string(call.method.shortName), "source": CallLog.source(of: call.request),
                "status": .string(call.status.name), "features": .number(Double(call.changed)),
            ])
    }
}

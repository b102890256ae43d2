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
        let message =
            isDenied
            ? "a call was denied"
            : call.status == .ok ? "a call changed a source" : "a call to change a source failed"
        log.write(
            isDenied ? .warning : .info, message,
            [
                "uid": .number(Double(call.peer.userID)), "pid": .number(Double(call.peer.processID)),
                "method": .string(call.method.shortName), "source": CallLog.source(of: call.request),
                "status": .string(call.status.name), "features": .number(Double(call.changed)),
            ])
    }
}

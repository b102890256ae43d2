// SPDX-License-Identifier: MIT
import Calls
import ClusterProtocol
import JSON

/// Logs each call that was denied and each that changes sources: who, what, which source, how much. It never
/// logs the content of params or answers.
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
        log.write(isDenied ? .warning : .info, message, Self.fields(call))
    }

    /// Fields: the user and the process, or the address of a client over TCP; then the call and its outcome.
    private static func fields(_ call: EndedCall) -> KeyValuePairs<String, JSONValue> {
        let (method, source) = (JSONValue.string(call.method.shortName), CallLog.source(of: call.request))
        let (status, features) = (JSONValue.string(call.status.name), JSONValue.number(Double(call.changed)))
        guard call.peer.hasUser else {
            return [
                "peer": .string(call.peer.address ?? "unknown"), "method": method, "source": source,
                "status": status, "features": features,
            ]
        }
        return [
            "uid": .number(Double(call.peer.userID)), "pid": .number(Double(call.peer.processID)),
            "method": method, "source": source, "status": status, "features": features,
        ]
    }
}

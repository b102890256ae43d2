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
        log.write(isDenied ? .warning : .info, message, Self.fields(call))
    }

    /// The user and the process, or the address of a client over TCP; then what it asked for and how it ended.
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

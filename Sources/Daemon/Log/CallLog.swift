// SPDX-License-Identifier: MIT
import RPC
import ClusterProtocol
import JSON
import SourceEngine

/// Logs calls that take long, and on request each that was denied or changes sources. It never logs the content of
/// params or answers. Safe from any thread.
struct CallLog: CallObserver {
    private let log: Log
    /// Calls that take longer get a line.
    private let nanoseconds: UInt64
    private let audits: Bool

    init(_ log: Log, _ settings: LogSettings) {
        self.log = log
        let milliseconds = settings.slowCallMs
        nanoseconds = milliseconds > 0 ? UInt64(min(milliseconds, 1 << 40)) * 1_000_000 : .max
        audits = settings.audits
    }

    var interest: CallInterest { CallInterest(slowerThan: nanoseconds, changesAndDenials: audits) }

    func callEnded(_ call: EndedCall) {
        if call.nanoseconds > nanoseconds { logSlow(call) }
        let isDenied = call.status == .permissionDenied
        if audits, isDenied || call.method.isChange { logChange(call, isDenied: isDenied) }
    }

    /// Source, method, status, size of the params, duration.
    private func logSlow(_ call: EndedCall) {
        log.write(
            .notice, "a call took long",
            [
                "method": .string(call.method.fullName), "source": Self.source(of: call.request),
                "status": .string(call.status.name), "paramsBytes": .number(Double(call.request.paramsBytes)),
                "ms": .number(Double(call.nanoseconds / 100_000) / 10),
            ])
    }

    /// The user and the process, or the address of a client over TCP; the subject of its token, and the rule that
    /// applied; then the call and its outcome.
    private func logChange(_ call: EndedCall, isDenied: Bool) {
        let message =
            isDenied
            ? "a call was denied" : call.status == .ok ? "a call changed a source" : "a call to change a source failed"
        var fields: JSONObject =
            call.caller.peer.hasUser
            ? [
                "uid": .number(Double(call.caller.peer.userID)), "pid": .number(Double(call.caller.peer.processID)),
            ] : ["peer": .string(call.caller.peer.address ?? "unknown")]
        if let token = call.caller.token { fields["subject"] = token.subject.map { .string($0) } ?? .null }
        fields["rule"] = call.rule.map { .string("access.rules[\($0)]") }
        fields["method"] = .string(call.method.shortName)
        fields["source"] = Self.source(of: call.request)
        fields["status"] = .string(call.status.name)
        fields["features"] = .number(Double(call.changed))
        log.write(isDenied ? .warning : .info, message, fields)
    }

    /// The source that a call names, if the name is valid.
    private static func source(of request: CallRequest) -> JSONValue {
        guard case .string(let name)? = request.params["source"], SourceReference(name) != nil else {
            return .null
        }
        return .string(name)
    }
}

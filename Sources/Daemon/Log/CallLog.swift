// SPDX-License-Identifier: MIT
import Calls
import ClusterProtocol
import JSON
import Sources

/// Logs calls. Safe from any thread.
struct CallLog: CallObserver {
    let slow: SlowCallLog
    let audit: AuditLog?

    init(_ log: Log, _ settings: LogSettings) {
        slow = SlowCallLog(log, milliseconds: settings.slowCallMs)
        audit = settings.audits ? AuditLog(log) : nil
    }

    var interest: CallInterest {
        CallInterest(slowerThan: slow.nanoseconds, changesAndDenials: audit != nil)
    }

    func callEnded(_ call: EndedCall) {
        slow.callEnded(call)
        audit?.callEnded(call)
    }

    /// The source that a call names, if the name is valid.
    static func source(of request: CallRequest) -> JSONValue {
        guard case .string(let name)? = request.params["source"], SourceName(name) != nil else {
            return .null
        }
        return .string(name)
    }
}

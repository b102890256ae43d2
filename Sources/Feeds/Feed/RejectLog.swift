// SPDX-License-Identifier: MIT
import Glibc
import JSON
import Synchronization

/// Counts messages that are left out, says so once for each reason, and appends them to a file. Safe from any thread.
final class RejectLog: Sendable {
    private let metrics: FeedMetrics
    private let report: @Sendable (String) -> Void
    private let descriptor: Int32?
    private let order = Mutex(())

    init(
        _ path: String?, _ metrics: FeedMetrics, report: @escaping @Sendable (String) -> Void
    ) throws(FeedSettings.Problem) {
        (self.metrics, self.report) = (metrics, report)
        guard let path else {
            descriptor = nil
            return
        }
        let opened = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o640)
        guard opened >= 0 else {
            throw FeedSettings.Problem(message: "--rejects \(path): \(String(cString: strerror(errno)))")
        }
        descriptor = opened
    }

    func add(_ message: BrokerMessage, _ reason: RejectReason, _ detail: String? = nil) {
        if metrics.count(reason) {
            let what = detail.map { " (\($0))" } ?? ""
            report("messages are left out: \(reason.rawValue)\(what), first at \(message.position)")
        }
        guard let descriptor else { return }
        var line = ByteWriter()
        line.append("{\"position\":")
        line.append(json: message.position)
        line.append(",\"reason\":")
        line.append(json: reason.rawValue)
        if let text = String(validating: message.body, as: UTF8.self) {
            line.append(",\"message\":")
            line.append(json: text)
        } else {
            line.append(",\"base64\":")
            line.append("\"")
            Base64.append(message.body.span, to: &line)
            line.append("\"")
        }
        line.append("}\n")
        order.withLock { _ in
            let bytes = line.bytes
            if write(descriptor, bytes, bytes.count) != bytes.count {
                report("a reject can't be written: its file takes no more")
            }
        }
    }
}

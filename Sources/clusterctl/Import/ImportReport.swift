// SPDX-License-Identifier: MIT
import ClusterClient
import JSON
import Rendering

/// The report of a finished import.
enum ImportReport {
    static func show(_ answer: Answer, _ invocation: Invocation) throws {
        try invocation.show(answer) { value in
            let source = try SourceDescription(value)
            var line =
                "\(source.name): \(Quantity.count(value["accepted"]?.asInteger ?? 0, "feature")) imported"
            if let skipped = value["skipped"]?.asInteger, skipped > 0 {
                line += ", \(Quantity.grouped(skipped)) skipped"
                let reasons = value["skippedReasons"]?.asObject?.members ?? []
                if !reasons.isEmpty {
                    line += " (" + reasons.map { "\($0.key): \($0.value.text)" }.joined(separator: ", ") + ")"
                }
            }
            line += "; \(Quantity.count(source.points, "point")), revision \(source.revision)"
            line += ", index built in \(Quantity.duration(milliseconds: source.buildMilliseconds))"
            line += ", \(Quantity.bytes(Double(source.memoryBytes)))"
            invocation.print(line)
        }
        try showWarnings(of: answer, invocation)
    }

    /// Shows an answer's advice on standard error.
    static func showWarnings(of answer: Answer, _ invocation: Invocation) throws {
        for warning in try answer.value()["warnings"]?.asArray ?? [] {
            invocation.warn(DaemonMessage.text(warning.asString ?? warning.text))
        }
    }
}

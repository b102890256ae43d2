// SPDX-License-Identifier: MIT
import JSON

/// The result of an import.
public struct ImportOutcome: Sendable {
    /// The source after the import became visible.
    public let description: SourceDescription
    /// The number of valid features, including those that the source's filter leaves out.
    public let accepted: Int
    /// The number of invalid features that were skipped, by reason.
    public let skippedReasons: [String: Int]

    /// Warnings: what in the data or the options is probably a mistake, and what to do.
    public let warnings: [String]

    /// The number of invalid features that were skipped.
    public var skipped: Int { skippedReasons.values.reduce(0, +) }

    /// Writes the description with the counts.
    public func write(into output: inout ByteWriter) {
        output.append("{")
        description.writeMembers(into: &output)
        output.append(",\"accepted\":")
        output.append(integer: Int64(accepted))
        output.append(",\"skipped\":")
        output.append(integer: Int64(skipped))
        output.append(",\"skippedReasons\":{")
        for (place, entry) in skippedReasons.sorted(by: { $0.key < $1.key }).enumerated() {
            if place > 0 { output.append(",") }
            output.append(json: entry.key)
            output.append(":")
            output.append(integer: Int64(entry.value))
        }
        output.append("}")
        ImportOutcome.write(warnings: warnings, into: &output)
        output.append("}")
    }

    /// Writes the member `warnings`, if there are any.
    public static func write(warnings: [String], into output: inout ByteWriter) {
        for (place, warning) in warnings.enumerated() {
            output.append(place == 0 ? ",\"warnings\":[" : ",")
            output.append(json: warning)
        }
        if !warnings.isEmpty { output.append("]") }
    }
}

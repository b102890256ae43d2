// SPDX-License-Identifier: MIT
import JSON

/// What a change of options did.
public struct OptionsOutcome: Sendable {
    /// The source with its new options.
    public let description: SourceDescription
    /// What in the options is probably not what was meant, and what to do.
    public let warnings: [String]

    /// Writes the description with the warnings.
    public func write(into output: inout ByteWriter) {
        output.append("{")
        description.writeMembers(into: &output)
        ImportOutcome.write(warnings: warnings, into: &output)
        output.append("}")
    }
}

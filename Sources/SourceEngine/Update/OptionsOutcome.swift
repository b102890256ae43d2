// SPDX-License-Identifier: MIT
import JSON

/// The result of a change of options.
public struct OptionsOutcome: Sendable {
    /// The source with its new options.
    public let description: SourceDescription
    /// Warnings: what in the options is probably a mistake, and what to do.
    public let warnings: [String]

    /// The outcome of creating a source with options.
    public init(created source: Source, with options: SourceOptions) {
        self.init(description: source.description, warnings: options.warnings)
    }

    init(description: SourceDescription, warnings: [String]) {
        (self.description, self.warnings) = (description, warnings)
    }

    /// Writes the description with the warnings.
    public func write(into output: inout ByteWriter) {
        output.append("{")
        description.writeMembers(into: &output)
        ImportOutcome.write(warnings: warnings, into: &output)
        output.append("}")
    }
}

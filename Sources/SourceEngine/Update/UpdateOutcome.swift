// SPDX-License-Identifier: MIT
import JSON

/// The result of an update of single features.
public struct UpdateOutcome: Sendable {
    /// The source after the update became visible.
    public let description: SourceDescription
    /// The number of new features.
    public let inserted: Int
    /// The number of existing features that were replaced.
    public let updated: Int
    /// The number of removed features.
    public let removed: Int
    /// The number of ids to remove that no feature had.
    public let missing: Int

    /// Writes the description with the counts.
    public func write(into output: inout ByteWriter) {
        output.append("{")
        description.writeMembers(into: &output)
        output.append(",\"inserted\":")
        output.append(integer: Int64(inserted))
        output.append(",\"updated\":")
        output.append(integer: Int64(updated))
        output.append(",\"removed\":")
        output.append(integer: Int64(removed))
        output.append(",\"missing\":")
        output.append(integer: Int64(missing))
        output.append("}")
    }
}

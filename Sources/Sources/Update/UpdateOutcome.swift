// SPDX-License-Identifier: MIT
import Aggregates
import JSON
import SourceStorage
import SystemSupport

/// What an update of single features did.
public struct UpdateOutcome: Sendable {
    /// The source once the update was visible.
    public let description: SourceDescription
    /// Features that came to be.
    public let inserted: Int
    /// Features that were there and took new contents.
    public let updated: Int
    /// Features that went.
    public let removed: Int
    /// Ids to be removed that no feature had.
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

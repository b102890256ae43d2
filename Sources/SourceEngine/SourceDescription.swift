// SPDX-License-Identifier: MIT
import JSON
import ImageStore
import SystemSupport

/// A source's state at one moment.
public struct SourceDescription: Sendable {
    public let source: SourceName
    /// The current revision.
    public let revision: Revision
    /// Whether a newer revision is being made.
    public let isBuilding: Bool
    /// Whether its files are still being read after a start. Then it answers nothing.
    public let isLoading: Bool
    public let createdAt: Timestamp
    /// When the revision was made; `createdAt` for a source without data.
    public let updatedAt: Timestamp
    /// Why the data are unavailable; nil if they are not.
    package let fault: StateFault?
    /// A remark about the data, such as that newer data were lost.
    public let note: String?
    /// How the source follows its table; nil if it follows none.
    public let replication: ReplicationStatus?

    init(_ name: SourceName, _ state: Source.State, _ revision: Revision, isBuilding: Bool) {
        source = name
        self.revision = revision
        self.isBuilding = isBuilding
        isLoading = if case .opening = state.life { true } else { false }
        (createdAt, updatedAt) = (state.identity.createdAt, state.updatedAt)
        (fault, note, replication) = (state.fault, state.note, state.replication)
    }

    public enum State: String, Sendable {
        case empty
        case building
        /// The files are still being read after a start.
        case loading
        case ready
        /// The source can no longer follow its table. It answers with its last data.
        case stale
        /// The files are not what was written.
        case damaged
        /// The files can't be read at the moment, or were written by a newer clusterd.
        case unavailable
    }

    /// Why the data are unavailable, for the operator.
    public var damage: String? { fault?.message }

    public var state: State {
        if let fault { return fault.kind == .damage ? .damaged : .unavailable }
        if isLoading { return .loading }
        if isBuilding { return .building }
        guard revision.hasData else { return .empty }
        return replication?.isStale == true ? .stale : .ready
    }

    /// Writes the description as a JSON object.
    public func write(into output: inout ByteWriter) {
        output.append("{")
        writeMembers(into: &output)
        output.append("}")
    }

    /// Writes the members without braces, for an answer with further members.
    package func writeMembers(into output: inout ByteWriter) {
        output.append("\"source\":")
        output.append(json: source.text)
        output.append(",\"options\":")
        output.append(revision.options.json)
        output.append(",\"points\":")
        output.append(integer: Int64(revision.pointCount))
        output.append(",\"revision\":")
        output.append(integer: Int64(clamping: revision.number))
        if let position = revision.log?.position {
            output.append(",\"position\":")
            output.append(json: position.description)
        }
        output.append(",\"bbox\":")
        writeBounds(into: &output)
        output.append(",\"memoryBytes\":")
        output.append(integer: Int64(revision.memoryBytes))
        output.append(",\"fileBytes\":")
        output.append(integer: Int64(revision.fileBytes))
        if revision.indexFileBytes > 0 {
            output.append(",\"indexFileBytes\":")
            output.append(integer: Int64(revision.indexFileBytes))
        }
        output.append(",\"indexBytesPerPoint\":")
        output.append(number: indexBytesPerPoint)
        output.append(",\"buildMs\":")
        output.append(number: Self.rounded(revision.buildMilliseconds))
        output.append(",\"state\":")
        output.append(json: state.rawValue)
        output.append(",\"createdAt\":")
        output.append(json: createdAt.text)
        output.append(",\"updatedAt\":")
        output.append(json: updatedAt.text)
        if let damage = damage ?? note {
            output.append(",\"damage\":")
            output.append(json: damage)
        }
        if let replication {
            output.append(",\"replication\":")
            output.append(replication.json(position: revision.log?.position))
            if let note = replication.note {
                output.append(",\"note\":")
                output.append(json: note)
            }
        }
        writeErrors(into: &output)
    }

    private func writeBounds(into output: inout ByteWriter) {
        guard let bounds = revision.bounds else { return output.append("null") }
        output.append("[")
        for (place, number) in [bounds.west, bounds.south, bounds.east, bounds.north].enumerated() {
            if place > 0 { output.append(",") }
            output.append(number: number)
        }
        output.append("]")
    }

    private func writeErrors(into output: inout ByteWriter) {
        let errors = revision.view.propertyErrors
        guard !errors.isEmpty else { return }
        output.append(",\"expressionErrors\":{")
        for (place, error) in errors.enumerated() {
            if place > 0 { output.append(",") }
            output.append(json: error.message)
            output.append(":")
            output.append(integer: Int64(error.count))
        }
        output.append("}")
    }

    /// Bytes of the index for each point, without features' text; 0 without points.
    private var indexBytesPerPoint: Double {
        guard revision.pointCount > 0 else { return 0 }
        return Self.rounded(Double(revision.view.indexBytes) / Double(revision.pointCount))
    }

    /// Rounded to three decimals.
    private static func rounded(_ number: Double) -> Double {
        (number * 1000).rounded() / 1000
    }
}

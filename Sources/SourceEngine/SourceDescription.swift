// SPDX-License-Identifier: MIT
import JSON
import ImageStore
import SystemSupport

/// A source's state at one moment.
public struct SourceDescription: Sendable {
    public let source: SourceName
    /// The current revision, of the source or of one of its views.
    public internal(set) var revision: Revision
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
    /// The image that others made and that the source reads; nil if its data are its own.
    public let image: String?
    /// How the source follows its table; nil if it follows none.
    public let replication: ReplicationStatus?
    /// What a caller sees of the source; nil if that is everything.
    public var part: Part?
    /// The logs whose changes are applied to it, the one that changed last first.
    package let feeds: [FeedStatus]

    /// What a caller sees of a source, who must not learn anything of the rest.
    public struct Part: Sendable {
        public let points: Int
        /// The extent of these points; nil if there is none, or if it would show single points.
        public let bounds: Box?

        public init(points: Int, bounds: Box?) { (self.points, self.bounds) = (points, bounds) }
    }

    /// The number of points that the description counts.
    public var points: Int { part?.points ?? revision.pointCount }

    init(
        _ name: SourceName, _ state: Source.State, _ revision: Revision, isBuilding: Bool, feeds: [FeedStatus]
    ) {
        self.feeds = feeds
        source = name
        self.revision = revision
        self.isBuilding = isBuilding
        isLoading = if case .opening = state.life { true } else { false }
        (createdAt, updatedAt) = (state.identity.createdAt, state.updatedAt)
        (fault, note, replication, image) = (state.fault, state.note, state.replication, state.image)
    }

    /// The source's name, or the view's: `SOURCE:VIEW`.
    public var name: String { SourceReference(source, view: revision.name).text }

    /// The description with those of the source's views.
    package var withViews: [SourceDescription] {
        [self]
            + revision.views.map { view in
                var description = self
                description.revision = view
                return description
            }
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

    /// Writes the description as a JSON object, with an answer's own members; those that are nil are left out.
    public func write(into output: inout ByteWriter) { write(adding: [:], into: &output) }

    func write(adding members: KeyValuePairs<String, JSONValue?>, into output: inout ByteWriter) {
        var object = json
        for (name, value) in members { object[name] = value }
        output.append(.object(object))
    }

    /// The description, to which an answer adds its members.
    package var json: JSONObject {
        var object: JSONObject = [
            "source": .string(name), "options": revision.options.json,
            "points": .number(Double(points)), "revision": .number(Double(revision.number)),
        ]
        object["position"] = revision.position.map { .string($0) }
        let bounds = if let part { part.bounds } else { revision.bounds }
        object["bbox"] = bounds.map { .array($0.edges.map(JSONValue.number)) } ?? .null
        if part == nil { describeSize(in: &object) }
        object["state"] = .string(state.rawValue)
        object["createdAt"] = .string(createdAt.text)
        object["updatedAt"] = .string(updatedAt.text)
        guard part == nil else { return object }
        object["damage"] = (damage ?? note).map { .string($0) }
        object["replication"] = replicationJSON
        object["note"] = (replication?.note ?? image.map { "is the image \($0), read only" }).map { .string($0) }
        let errors = revision.view.propertyErrors
        if !errors.isEmpty {
            object["expressionErrors"] = .object(
                JSONObject(errors.map { (key: $0.message, value: .number(Double($0.count))) }))
        }
        return object
    }

    /// Adds what all features took.
    private func describeSize(in object: inout JSONObject) {
        object["memoryBytes"] = .number(Double(revision.memoryBytes))
        object["fileBytes"] = .number(Double(revision.fileBytes))
        if revision.indexFileBytes > 0 { object["indexFileBytes"] = .number(Double(revision.indexFileBytes)) }
        object["indexBytesPerPoint"] = .number(indexBytesPerPoint)
        object["buildMs"] = .number(Self.rounded(revision.buildMilliseconds))
    }

    /// How the source follows its table or its logs; nil if it follows none.
    package var replicationJSON: JSONValue? {
        if let replication { return replication.json(position: revision.position) }
        guard let latest = feeds.first, case .object(var object) = latest.json else { return nil }
        object["logs"] = .array(feeds.map(\.json))
        return .object(object)
    }

    /// Bytes of the index for each point, without features' text; 0 without points.
    private var indexBytesPerPoint: Double {
        guard revision.pointCount > 0 else { return 0 }
        return Self.rounded(Double(revision.view.indexBytes) / Double(revision.pointCount))
    }

    /// Rounded to three decimals.
    private static func rounded(_ number: Double) -> Double { (number * 1000).rounded() / 1000 }
}

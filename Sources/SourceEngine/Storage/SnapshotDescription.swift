// SPDX-License-Identifier: MIT
import Clustering
import ImageStore
import JSON
import SystemSupport

/// What a snapshot contains about its source besides the arrays.
package struct SnapshotDescription: Sendable {
    package var source: String
    /// The user whose limits the source counts towards.
    package var owner: UInt32?
    package var options: SourceOptions
    package var revision: UInt64
    package var createdAt: Timestamp
    package var updatedAt: Timestamp
    /// The source's own clusters.
    package var view: SnapshotView
    /// The named views, in the order of their sections.
    package var views: [(name: SourceName, view: SnapshotView)]
    /// The logs that the data follow, and up to which positions.
    package var logs: FollowedLogs
    /// Why the data are older than what was acknowledged; nil if they are not.
    package var loss: String?

    package var json: JSONValue {
        var object = JSONObject()
        object["source"] = .string(source)
        object["owner"] = owner.map { .number(Double($0)) } ?? .null
        object["options"] = options.json
        object["revision"] = .number(Double(revision))
        object["createdAt"] = .number(Double(createdAt.milliseconds))
        object["updatedAt"] = .number(Double(updatedAt.milliseconds))
        view.write(into: &object)
        if !views.isEmpty {
            object["views"] = .array(
                views.map { name, view in
                    var object: JSONObject = ["name": .string(name.text)]
                    view.write(into: &object)
                    return .object(object)
                })
        }
        if case .table(let origin)? = logs.table?.origin { object["log"] = Self.json(logs.table, "origin", origin) }
        if !logs.feeds.isEmpty {
            object["feeds"] = .array(logs.feeds.map { Self.json($0, "log", $0.origin.feed ?? "") })
        }
        if let loss { object["loss"] = .string(loss) }
        return .object(object)
    }

    package init(_ revision: Revision, of source: SourceIdentity, updatedAt: Timestamp, loss: String?) {
        self.source = source.name.text
        owner = source.owner
        options = revision.options
        self.revision = revision.number
        createdAt = source.createdAt
        self.updatedAt = updatedAt
        view = SnapshotView(revision)
        views = revision.views.compactMap { view in view.name.map { ($0, SnapshotView(view)) } }
        logs = revision.logs
        self.loss = loss
    }

    /// - Parameter path: the file's path, for messages.
    package init(_ text: [UInt8], path: String) throws(StateFault) {
        guard case .object(let object)? = try? JSONReader.parse(text),
            case .string(let source)? = object["source"],
            let revision = Self.integer(object["revision"]), revision >= 0,
            let created = Self.integer(object["createdAt"]), let updated = Self.integer(object["updatedAt"]),
            let view = SnapshotView(object)
        else { throw StateFault("\(path) has a description that is incomplete") }
        do throws(SourceError) { options = try SourceOptions(reading: object["options"]) } catch {
            throw StateFault("\(path) has options that this clusterd does not read: \(error.description)")
        }
        self.source = source
        owner = Self.integer(object["owner"]).flatMap { UInt32(exactly: $0) }
        self.revision = UInt64(revision)
        createdAt = Timestamp(milliseconds: Int64(created))
        updatedAt = Timestamp(milliseconds: Int64(updated))
        self.view = view
        views = try Self.views(object["views"], path)
        logs = try Self.logs(object, path)
        if case .string(let text)? = object["loss"] { loss = text }
    }

    private static func views(_ value: JSONValue?, _ path: String) throws(StateFault) -> [(SourceName, SnapshotView)] {
        guard let value else { return [] }
        guard case .array(let list) = value else { throw StateFault("\(path) has views that are not a list") }
        return try list.map { (entry) throws(StateFault) in
            guard case .object(let object) = entry, case .string(let text)? = object["name"],
                let name = SourceName(text), let view = SnapshotView(object)
            else { throw StateFault("\(path) has a view whose description is incomplete") }
            return (name, view)
        }
    }

    private static func json(_ log: FollowedLog?, _ member: String, _ name: String) -> JSONValue {
        .object([
            member: .string(name), "position": .string(log?.mark.position ?? ""), "mark": .string(log?.mark.text ?? ""),
        ])
    }

    private static func logs(_ object: JSONObject, _ path: String) throws(StateFault) -> FollowedLogs {
        var logs: [FollowedLog] = []
        if let table = object["log"] {
            let (origin, mark) = try log(table, "origin", path)
            logs.append(FollowedLog(origin: .table(origin), mark: mark))
        }
        if case .array(let feeds)? = object["feeds"] {
            for feed in feeds {
                let (name, mark) = try log(feed, "log", path)
                logs.append(FollowedLog(origin: .feed(name), mark: mark))
            }
        }
        return FollowedLogs(logs)
    }

    private static func log(
        _ value: JSONValue, _ member: String, _ path: String
    ) throws(StateFault) -> (name: String, LogMark) {
        guard case .object(let object) = value, case .string(let name)? = object[member],
            case .string(let position)? = object["position"], case .string(let mark)? = object["mark"]
        else { throw StateFault("\(path) has a log without a position") }
        return (name, LogMark(position: position, text: mark))
    }

    fileprivate static func integer(_ value: JSONValue?) -> Int? {
        guard case .number(let number)? = value else { return nil }
        return Int(exactly: number)
    }
}

/// What a snapshot contains about the clusters of a source or of one of its views besides the arrays.
package struct SnapshotView: Sendable {
    package let points: Int
    package let buildMilliseconds: Double
    package let bounds: Box?
    package let errors: [PropertyError]
    /// Aggregated properties by name, with the kind of their column.
    package let aggregates: [(name: String, kind: String)]
    package let hasPartitions: Bool

    init(_ revision: Revision) {
        points = revision.pointCount
        buildMilliseconds = revision.buildMilliseconds
        bounds = revision.bounds
        errors = revision.view.propertyErrors
        aggregates = revision.view.aggregates.map { (name: $0.name, kind: $0.column.kind) }
        hasPartitions = !revision.view.partitions.isEmpty
    }

    /// Nil if a member is missing or of another type.
    init?(_ object: JSONObject) {
        guard let points = SnapshotDescription.integer(object["points"]), points >= 0,
            case .number(let build)? = object["buildMs"], case .array(let errors)? = object["errors"],
            case .array(let aggregates)? = object["aggregates"],
            case .bool(let hasPartitions)? = object["hasPartitions"]
        else { return nil }
        self.points = points
        buildMilliseconds = build
        bounds = Self.box(object["bbox"])
        self.hasPartitions = hasPartitions
        self.errors = errors.compactMap { error in
            guard case .array(let pair) = error, pair.count == 2, case .string(let message) = pair[0],
                let count = SnapshotDescription.integer(pair[1])
            else { return nil }
            return PropertyError(message: message, count: count)
        }
        self.aggregates = aggregates.compactMap { aggregate in
            guard case .array(let pair) = aggregate, pair.count == 2, case .string(let name) = pair[0],
                case .string(let kind) = pair[1]
            else { return nil }
            return (name, kind)
        }
    }

    fileprivate func write(into object: inout JSONObject) {
        object["points"] = .number(Double(points))
        object["buildMs"] = .number(buildMilliseconds)
        object["bbox"] = bounds.map { .array($0.edges.map(JSONValue.number)) } ?? .null
        object["errors"] = .array(
            errors.map { .array([.string($0.message), .number(Double($0.count))]) })
        object["aggregates"] = .array(aggregates.map { .array([.string($0.name), .string($0.kind)]) })
        object["hasPartitions"] = .bool(hasPartitions)
    }

    private static func box(_ value: JSONValue?) -> Box? {
        guard case .array(let edges)? = value, edges.count == 4 else { return nil }
        return Box(edges: edges.compactMap { if case .number(let edge) = $0 { edge } else { nil } })
    }
}

/// The properties of a source that never change.
package struct SourceIdentity: Sendable {
    package let name: SourceName
    /// The user whose limits the source counts towards; nil if none.
    package let owner: UInt32?
    package let createdAt: Timestamp

    package init(name: SourceName, owner: UInt32?, createdAt: Timestamp) {
        (self.name, self.owner, self.createdAt) = (name, owner, createdAt)
    }
}

/// The names of a snapshot's sections. They are part of the format and never change their meaning.
package enum SnapshotSection {
    /// The source's description, as JSON.
    package static let description: UInt32 = 1
    /// The features' records. The first section, so that the others follow one another in few pages.
    package static let text: UInt32 = 2
    package static let blockStarts: UInt32 = 3
    package static let offsets: UInt32 = 4
    /// The index by id: `IdentifierIndex.entries`, and the key for hashing ids.
    package static let identifiers: UInt32 = 10
    package static let identifierKey: UInt32 = 11
    /// The starts of runs of features that were inserted together, 32 bits each, and the moments, 64 bits each.
    package static let momentStarts: UInt32 = 7
    package static let moments: UInt32 = 8

    /// The features' rows in the order of `sortKey`, 32 bits each. Only with that option.
    package static let sortedRows: UInt32 = 9
    /// The points by the features' rows, 32 bits each. Only with that option.
    package static let sortedPoints: UInt32 = 14
    /// How many points lie before each 4,096 nodes along the curve (`CurvePoints`), 32 bits each, instead of the points by rows, if
    /// rows follow the curve. Only in images.
    package static let pointRanks: UInt32 = 0x27
    /// The rows of the features of points that are in the order of the rows: of views that show only some features.
    package static let (rowHighs, rowLows): (UInt32, UInt32) = (0x23, 0x24)
    /// The numbers from which cluster ids and watchers' keys are made: `FeatureCodes`. Only with the option `clusterIds`
    /// `"origin"`, and of many features.
    package static let origins = FeatureCodes.Sections(identified: 0x20, anonymous: 0x21, repeated: 0x22)

    /// The numbers of the features that the source's own clusters grew from, 64 bits each (`FeatureCodes`): what ids are made
    /// of, which else are looked up feature by feature. Only in images.
    package static let clusterCodes: UInt32 = 0x25

    /// The rows in the order of the input, 32 bits each, if the rows follow the curve of the index instead. Only in images.
    /// Hashes of ids and texts then stand above a feature's number in the input.
    package static let inputRows: UInt32 = 0x26

    package static func index(_ section: IndexSection) -> UInt32 { 0x100 + section.rawValue }

    /// One array of an aggregated property, by the property's index.
    package static func aggregate(_ index: Int, _ part: UInt32) -> UInt32 {
        0x1000 + UInt32(truncatingIfNeeded: index) * 8 + part
    }

    /// One array of the points' indexed values (`PointValues`). Only with the option `indexedProperties`.
    package static func value(_ number: UInt32) -> UInt32 { 0x2000 + number }

    /// The values of `partitionBy`.
    package static func partitions(_ part: UInt32) -> UInt32 { 0x10 + part }

    /// A section of a view's clusters: of the source's own with number 0, of named views from 1 on.
    package static func of(view number: Int, _ section: UInt32) -> UInt32 {
        UInt32(truncatingIfNeeded: number) << 24 | section
    }
}

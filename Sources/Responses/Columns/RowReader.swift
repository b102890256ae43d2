// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import JSON
import SourceEngine
import SystemSupport

/// What is a row of an answer: a cluster, a point, or a feature that no view's point stands for.
enum RowSubject {
    case node(Node)
    /// By its row in the store.
    case feature(Int)
}

/// A row, before its values are put into columns. Its texts are valid while it is lent.
struct Row {
    /// Where it is. Read from the feature's text, so only if it is asked for.
    enum Place {
        case cluster(longitude: Double, latitude: Double)
        case feature(FeatureParts, precision: Int?)
    }

    let place: Place
    /// The id as JSON text; empty for clusters, and if there is none.
    var identifier = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The id and the number of points of a cluster.
    var cluster: (id: Int64, points: Int)?
    /// The marker's key, if the answer has keys.
    var key: MarkerKey?

    var position: (longitude: Double, latitude: Double) {
        switch place {
        case .cluster(let longitude, let latitude): return (longitude, latitude)
        case .feature(let parts, nil): return parts.position
        case .feature(let parts, let precision):
            let (longitude, latitude) = parts.position
            return (Coordinates.exact(longitude, precision), Coordinates.exact(latitude, precision))
        }
    }
}

/// Reads the rows of an answer in their order, as often as needed. Used by one thread.
struct RowReader {
    private let writer: FeatureWriter
    private let keys: FeatureKeys?
    private var subjects: Subjects
    /// The rows that have been looked up, and how many of them have been read.
    private var batch: [RowSubject] = []
    private var taken = 0
    private var features: PreparedFeatures
    private var featuresTaken = 0
    private var properties: RowProperties
    /// A cluster's properties, written as for JSON: so the values are the same.
    private var scratch = ByteWriterBox()

    private enum Subjects {
        case nodes([Node], next: Int)
        case features(FeaturePages)
    }

    /// So many rows are looked up together. Their data stay in the processor's first cache.
    private static let batchSize = 256

    /// Reads nodes.
    init(_ nodes: [Node], of writer: FeatureWriter) throws(SourceError) {
        try self.init(.nodes(nodes, next: 0), of: writer)
    }

    /// Reads features.
    init(_ pages: FeaturePages, of writer: FeatureWriter) throws(SourceError) {
        try self.init(.features(pages), of: writer)
    }

    private init(_ subjects: Subjects, of writer: FeatureWriter) throws(SourceError) {
        self.writer = writer
        self.subjects = subjects
        let hasKeys = writer.output.include.contains(.key)
        keys = hasKeys ? try FeatureKeys(writer.revision, writer.view, writer.cancellation) : nil
        features = writer.revision.store.preparedFeatures
        properties = RowProperties(writer.output.properties)
    }

    /// Continues with a reader's names, from the first row again.
    mutating func rewind(to start: RowReader) {
        subjects = start.subjects
        batch.removeAll(keepingCapacity: true)
        taken = 0
    }

    /// The names of the properties of the rows that have been read.
    var names: [[UInt8]] { properties.names }

    /// Lends the next row and its properties; returns false if there is none.
    mutating func next(_ body: (Row, RowProperties) throws(SourceError) -> Void) throws(SourceError) -> Bool {
        if taken == batch.count { try readBatch() }
        guard taken < batch.count else { return false }
        let subject = batch[taken]
        taken += 1
        switch subject {
        case .node(.cluster(let cluster)):
            scratch.bytes.truncate(to: 0)
            scratch.bytes.append("{")
            try writer.writeProperties(of: cluster, into: &scratch.bytes)
            scratch.bytes.append("}")
            let row = row(of: cluster)
            try scratch.bytes.withUnsafeBytes { (text) throws(SourceError) in
                try properties.read(text)
                try body(row, properties)
            }
        case .node(.point), .feature:
            let parts = features.parts(featuresTaken)
            featuresTaken += 1
            try properties.read(parts.properties)
            var row = Row(
                place: .feature(parts, precision: writer.output.precision), identifier: parts.identifier)
            if case .node(let node) = subject {
                row.key = key(of: node)
                if case .point(let point) = node, let mark = writer.mark(of: point) {
                    try properties.put(Self.trueText, named: mark)
                }
            }
            try body(row, properties)
        }
        return true
    }

    private static var trueText: UnsafeRawBufferPointer {
        let text: StaticString = "true"
        return UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }

    private func row(of cluster: ClusterOrdinal) -> Row {
        let summary = writer.summary(of: cluster)
        let (projection, precision) = (writer.projection, writer.output.precision)
        return Row(
            place: .cluster(
                longitude: Coordinates.exact(projection.longitude(x: summary.x), precision),
                latitude: Coordinates.exact(projection.latitude(y: summary.y), precision)),
            cluster: (writer.id(of: cluster, summary), summary.pointCount), key: key(of: .cluster(cluster)))
    }

    private func key(of node: Node) -> MarkerKey? { keys.map { MarkerWriter(writer).key(of: node, $0) } }

    private mutating func readBatch() throws(SourceError) {
        try writer.cancellation.stopIfCancelled()
        batch.removeAll(keepingCapacity: true)
        (taken, featuresTaken) = (0, 0)
        let size = writer.output.include.isDisjoint(with: .costly) ? Self.batchSize : 1
        var rows: [Int] = []
        switch subjects {
        case .nodes(let all, let next):
            let nodes = all[next..<min(all.count, next + size)]
            subjects = .nodes(all, next: nodes.endIndex)
            batch += nodes.lazy.map(RowSubject.node)
            writer.willRead(nodes)
            for case .point(let point) in nodes { rows.append(writer.view.feature(of: point)) }
        case .features(var pages):
            rows = pages.takeRows(size)
            subjects = .features(pages)
            batch += rows.lazy.map(RowSubject.feature)
            writer.revision.store.willRead(rows)
        }
        features.prepare(rows)
    }
}

/// Bytes that copies of a reader share: only the last copy is used.
private final class ByteWriterBox {
    var bytes = ByteWriter(capacity: 1024)
}

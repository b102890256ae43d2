// SPDX-License-Identifier: MIT
import Aggregates
import Clustering
import GeoJSON
import JSON
import SourceEngine
import SystemSupport
import TypedFeatures

/// Writes nodes of a view as GeoJSON features: points as they were sent, clusters like supercluster's.
struct FeatureWriter {
    let revision: Revision
    let view: View
    let output: FeatureOutput
    let cancellation: Cancellation
    /// What is shown of the points; nil for all.
    let shown: ShownPoints?
    /// Whether clusters have more than the four built-in properties.
    let hasExtras: Bool
    let projection: Projection
    /// The features' numbers, if cluster ids are derived from them.
    private let codes: FeatureCodes?

    init(
        revision: Revision, view: View, output: FeatureOutput, shown: ShownPoints? = nil, cancellation: Cancellation
    ) {
        self.shown = shown
        self.revision = revision
        self.view = view
        self.output = output
        self.cancellation = cancellation
        projection = view.index.projection
        // Never cancelled, since the result is cached for other calls.
        codes = revision.namesOrigins(in: view) ? try? revision.featureCodes(.never).seen(in: view) : nil
        hasExtras =
            !view.aggregates.isEmpty || !view.partitions.isEmpty || !output.include.isEmpty || view.index.isWeighted
            || shown != nil
    }

    /// Writes all nodes as features of a collection.
    func write(
        _ nodes: [Node], to collection: inout CollectionWriter, into bytes: inout ByteWriter
    ) throws(SourceError) {
        if output.include.contains(.key) { return try writeWithKeys(nodes, to: &collection, into: &bytes) }
        guard shown == nil else {
            willRead(nodes)
            for node in nodes {
                try collection.beginFeature(&bytes, cancellation)
                try writeFeature(node, into: &bytes)
            }
            return
        }
        var clusters: [ClusterSummary] = []
        var rows: [Int] = []
        var features = revision.store.preparedFeatures
        let structProperties = output.form.structProperties
        var start = 0
        while start < nodes.count {
            // A batch is small enough for the looked-up data to stay in the processor's first cache.
            let end = min(nodes.count, start + Self.batchSize)
            let batch = nodes[start..<end]
            start = end
            willRead(batch)
            view.index.findSummaries(of: batch, into: &clusters)
            rows.removeAll(keepingCapacity: true)
            for node in batch {
                if case .point(let point) = node { rows.append(view.feature(of: point)) }
            }
            features.prepare(rows)
            var (cluster, feature) = (0, 0)
            for node in batch {
                try collection.beginFeature(&bytes, cancellation)
                switch node {
                case .point where structProperties != nil:
                    let start = bytes.beginField(TypedFields.Answer.features)
                    revision.store.writeMessage(
                        feature, of: features, into: &bytes, structProperties: structProperties ?? false,
                        selection: output.properties, precision: output.precision)
                    bytes.endField(start)
                    feature += 1
                case .cluster(let ordinal) where structProperties != nil:
                    let start = bytes.beginField(TypedFields.Answer.features)
                    try writeMessage(ordinal, clusters[cluster], structProperties ?? false, into: &bytes)
                    bytes.endField(start)
                    cluster += 1
                case .point:
                    revision.store.write(
                        feature, of: features, into: &bytes, selection: output.properties, precision: output.precision)
                    feature += 1
                case .cluster(let ordinal):
                    try write(ordinal, clusters[cluster], into: &bytes)
                    cluster += 1
                }
            }
        }
    }

    private static var batchSize: Int { 256 }

    /// Lets what nodes are written of be read from the disk side by side, if it is in a file.
    func willRead(_ nodes: some Sequence<Node>) {
        view.index.willRead(nodes)
        view.willRead(nodes)
        guard !revision.store.isResident else { return }
        revision.store.willRead(
            nodes.compactMap { node in
                if case .point(let point) = node { view.feature(of: point) } else { nil }
            })
    }

    /// Writes all nodes, each with the key of the feature that it grew from.
    private func writeWithKeys(
        _ nodes: [Node], to collection: inout CollectionWriter, into bytes: inout ByteWriter
    ) throws(SourceError) {
        let keys = try FeatureKeys(revision, view, cancellation)
        let writer = MarkerWriter(self)
        for node in nodes {
            try collection.beginFeature(&bytes, cancellation)
            try writer.write(node, as: TypedFields.Answer.features, key: writer.key(of: node, keys), into: &bytes)
        }
    }

    /// Writes a node as a feature of a collection, in the output's form.
    func writeFeature(_ node: Node, into bytes: inout ByteWriter) throws(SourceError) {
        guard let structProperties = output.form.structProperties else { return try write(node, into: &bytes) }
        try writeMessage(node, as: TypedFields.Answer.features, structProperties, into: &bytes)
    }

    func write(_ node: Node, into bytes: inout ByteWriter) throws(SourceError) {
        switch node {
        case .point(let point): write(point, into: &bytes)
        case .cluster(let cluster): try write(cluster, summary(of: cluster), into: &bytes)
        }
    }

    /// A cluster's data, with the number of its points that are shown.
    func summary(of cluster: ClusterOrdinal) -> ClusterSummary {
        var summary = view.index.summary(of: cluster)
        if let shown { summary.pointCount = shown.count(of: .cluster(cluster)) }
        return summary
    }

    /// The property that marks a pinned point; nil for others.
    func mark(of point: PointIndex) -> StaticString? { shown?.isPinned(point) == true ? "pinned" : nil }

    func write(_ point: PointIndex, into bytes: inout ByteWriter) {
        revision.store.write(
            view.feature(of: point), into: &bytes, selection: output.properties, precision: output.precision,
            mark: mark(of: point))
    }

    private func write(
        _ cluster: ClusterOrdinal, _ summary: ClusterSummary, into bytes: inout ByteWriter
    ) throws(SourceError) {
        bytes.append("{\"type\":\"Feature\",\"id\":")
        bytes.append(integer: id(of: cluster, summary))
        bytes.append(",\"properties\":{")
        try writeProperties(of: cluster, summary, into: &bytes)
        bytes.append("},\"geometry\":{\"type\":\"Point\",\"coordinates\":")
        Coordinates.write(
            projection.longitude(x: summary.x), projection.latitude(y: summary.y),
            precision: output.precision, into: &bytes)
        bytes.append("}}")
    }

    /// A cluster's id according to the source's options.
    func id(of cluster: ClusterOrdinal) -> Int64 { id(of: cluster, view.index.summary(of: cluster)) }

    func id(of cluster: ClusterOrdinal, _ summary: ClusterSummary) -> Int64 {
        guard let codes else { return summary.id }
        return revision.originId(of: cluster, in: view, codes)
    }

    /// Writes the members of a cluster's properties: aggregates, the four built-in ones, and those
    /// that the options and the call request. An aggregate with the name of another member is omitted.
    func writeProperties(of cluster: ClusterOrdinal, into bytes: inout ByteWriter) throws(SourceError) {
        try writeProperties(of: cluster, summary(of: cluster), into: &bytes)
    }

    private func writeProperties(
        of cluster: ClusterOrdinal, _ summary: ClusterSummary, into bytes: inout ByteWriter
    ) throws(SourceError) {
        if hasExtras { writeAggregates(of: cluster, into: &bytes) }
        bytes.append("\"cluster\":true,\"cluster_id\":")
        bytes.append(integer: id(of: cluster, summary))
        bytes.append(",\"point_count\":")
        bytes.append(integer: Int64(summary.pointCount))
        bytes.append(",\"point_count_abbreviated\":")
        AbbreviatedCount.write(summary.pointCount, into: &bytes)
        if hasExtras { try writeExtras(of: cluster, into: &bytes) }
    }

    private func writeExtras(of cluster: ClusterOrdinal, into bytes: inout ByteWriter) throws(SourceError) {
        if shown?.window != nil {
            bytes.append(",\"total_count\":")
            bytes.append(integer: Int64(view.index.pointCount(of: cluster)))
        } else if let weight = view.index.weight(of: cluster) {
            bytes.append(",\"point_weight\":")
            bytes.append(number: weight)
        }
        if let partition = view.partition(of: cluster) {
            bytes.append(",\"partition\":")
            bytes.append(partition)
        }
        if !output.include.isEmpty {
            let details = ClusterDetailWriter(
                revision: revision, view: view, output: output, shown: shown, cancellation: cancellation)
            try details.write(cluster, into: &bytes)
        }
    }

    /// Writes a cluster's aggregates as members, each followed by a comma.
    func writeAggregates(of cluster: ClusterOrdinal, into bytes: inout ByteWriter) {
        // They are of all points.
        guard shown?.window == nil else { return }
        for aggregate in view.aggregates where includes(aggregate) {
            bytes.append(contentsOf: aggregate.key)
            aggregate.write(cluster, of: view.index, into: &bytes)
            bytes.append(",")
        }
    }

    private func includes(_ aggregate: NamedAggregate) -> Bool {
        if let selection = output.properties, !selection.keeps(aggregate.name) { return false }
        if output.include.isEmpty { return true }
        return !ClusterDetails.byName.contains {
            // A key is a member of the feature itself.
            $0.detail != .key && output.include.contains($0.detail) && $0.name.utf8.elementsEqual(aggregate.name.utf8)
        }
    }
}

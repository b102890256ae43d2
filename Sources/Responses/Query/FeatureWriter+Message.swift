// SPDX-License-Identifier: MIT
import Aggregates
import Clustering
import GeoJSON
import JSON
import Protobuf
import SourceEngine
import SystemSupport
import TypedFeatures

/// Writes nodes of a view as messages of `proto/clusterd/v1/clusterd.proto`, with what their JSON has.
extension FeatureWriter {
    /// Writes a node as a Feature.
    ///
    /// - Parameters:
    ///   - field: the field that it is.
    ///   - key: its marker's key.
    ///   - source: the key of the marker that it comes from.
    func writeMessage(
        _ node: Node, as field: Int, key: MarkerKey? = nil, from source: MarkerKey? = nil, _ structProperties: Bool,
        into bytes: inout ByteWriter
    ) throws(SourceError) {
        let start = bytes.beginField(field)
        switch node {
        case .point(let point):
            revision.store.writeMessage(
                view.feature(of: point), into: &bytes, structProperties: structProperties,
                selection: output.properties, precision: output.precision,
                leavingOut: key == nil ? nil : MarkerWriter.keyMember, isPinned: mark(of: point) != nil)
        case .cluster(let cluster):
            try writeMessage(cluster, summary(of: cluster), structProperties, into: &bytes)
        }
        if let key { MarkerWriter.write(key: key, as: TypedFields.Feature.key, into: &bytes) }
        if let source { MarkerWriter.write(key: source, as: TypedFields.Feature.fromKey, into: &bytes) }
        bytes.endField(start)
    }

    /// Writes the fields of a cluster's Feature.
    func writeMessage(
        _ cluster: ClusterOrdinal, _ summary: ClusterSummary, _ structProperties: Bool, into bytes: inout ByteWriter
    ) throws(SourceError) {
        let longitude = Coordinates.exact(projection.longitude(x: summary.x), output.precision)
        let latitude = Coordinates.exact(projection.latitude(y: summary.y), output.precision)
        bytes.append(field: TypedFields.Feature.longitude, nonZero: longitude)
        bytes.append(field: TypedFields.Feature.latitude, nonZero: latitude)
        let start = bytes.beginField(TypedFields.Feature.cluster)
        try writeFields(of: cluster, summary, structProperties, into: &bytes)
        bytes.endField(start)
    }

    /// Writes a feature of a tile as a TileFeature.
    func writeMessage(
        _ feature: TileFeature, key: MarkerKey?, _ structProperties: Bool, into bytes: inout ByteWriter
    ) throws(SourceError) {
        typealias Fields = TypedFields.TileFeature
        let start = bytes.beginField(TypedFields.Answer.features)
        bytes.append(field: Fields.x, nonZero: WireFormat.zigZag(feature.x))
        bytes.append(field: Fields.y, nonZero: WireFormat.zigZag(feature.y))
        switch feature.node {
        case .cluster(let cluster):
            let message = bytes.beginField(Fields.cluster)
            try writeFields(of: cluster, summary(of: cluster), structProperties, into: &bytes)
            bytes.endField(message)
        case .point(let point):
            let message = bytes.beginField(Fields.point)
            writeTileIdentifier(of: point, into: &bytes)
            revision.store.writePointProperties(
                view.feature(of: point), into: &bytes, structProperties: structProperties,
                selection: output.properties)
            if mark(of: point) != nil { bytes.append(field: TypedFields.Point.pinned, varint: 1) }
            bytes.endField(message)
        }
        if let key { MarkerWriter.write(key: key, as: Fields.key, into: &bytes) }
        bytes.endField(start)
    }

    private func writeTileIdentifier(of point: PointIndex, into bytes: inout ByteWriter) {
        guard revision.options.generateId else {
            return revision.store.writePointIdentifier(view.feature(of: point), into: &bytes)
        }
        let id = bytes.beginField(TypedFields.Point.id)
        bytes.append(field: TypedFields.FeatureId.integer, varint: UInt64(view.inputIndex(of: point)))
        bytes.endField(id)
    }

    // MARK: Clusters

    /// Writes the fields of a Cluster.
    private func writeFields(
        of cluster: ClusterOrdinal, _ summary: ClusterSummary, _ structProperties: Bool, into bytes: inout ByteWriter
    ) throws(SourceError) {
        typealias Fields = TypedFields.Cluster
        bytes.append(field: Fields.id, nonZero: UInt64(bitPattern: id(of: cluster, summary)))
        bytes.append(field: Fields.pointCount, nonZero: UInt64(summary.pointCount))
        guard hasExtras else { return }
        if !view.aggregates.isEmpty { writeAggregates(of: cluster, structProperties, into: &bytes) }
        let isWindow = shown?.window != nil
        if !isWindow, let weight = view.index.weight(of: cluster) {
            bytes.append(field: Fields.pointWeight, double: weight + 0)
        }
        switch view.partition(of: cluster) {
        case .string(let text): bytes.append(field: Fields.partitionText, text: text)
        case .number(let number): bytes.append(field: Fields.partitionNumber, double: number + 0)
        default: break
        }
        if isWindow {
            bytes.append(field: Fields.totalCount, varint: UInt64(view.index.pointCount(of: cluster)))
        }
        guard !output.include.isEmpty else { return }
        let details = ClusterDetailWriter(
            revision: revision, view: view, output: output, shown: shown, cancellation: cancellation)
        try details.writeFields(of: cluster, into: &bytes)
    }

    private func writeAggregates(
        of cluster: ClusterOrdinal, _ structProperties: Bool, into bytes: inout ByteWriter
    ) {
        typealias Fields = TypedFields.Cluster
        if structProperties {
            var text = ByteWriter(capacity: 256)
            text.append("{")
            writeAggregates(of: cluster, into: &text)
            guard text.count > 1 else { return }
            text.truncate(to: text.count - 1)
            text.append("}")
            return bytes.append(field: Fields.properties, structure: text)
        }
        let before = bytes.count
        let start = bytes.beginField(Fields.propertiesJson)
        bytes.append("{")
        let empty = bytes.count
        writeAggregates(of: cluster, into: &bytes)
        guard bytes.count > empty else { return bytes.truncate(to: before) }
        bytes.truncate(to: bytes.count - 1)
        bytes.append("}")
        bytes.endField(start)
    }
}

extension ClusterDetailWriter {
    /// Writes the fields of a Cluster that a call requests, in the order of their numbers.
    func writeFields(of cluster: ClusterOrdinal, into bytes: inout ByteWriter) throws(SourceError) {
        typealias Fields = TypedFields.Cluster
        let include = output.include
        if include.contains(.hull) {
            let corners = try hull(of: cluster).map { HullWriter.coordinates($0, precision: output.precision) } ?? []
            let start = bytes.beginField(Fields.hull)
            bytes.append(field: TypedFields.Hull.coordinates, packed: corners)
            bytes.endField(start)
        }
        let readsPoints = !include.isDisjoint(with: [.bounds, .coincident, .anchor, .spider])
        let extent = readsPoints ? extent(of: cluster) : nil
        if include.contains(.bounds), let extent {
            writeNumbers([extent.west, extent.south, extent.east, extent.north], as: Fields.bbox, into: &bytes)
        }
        if include.contains(.expansionZoom) {
            let zoom = view.index.expansionZoom(of: cluster).rawValue
            bytes.append(field: Fields.expansionZoom, varint: UInt64(zoom))
        }
        defer { writeTop(of: cluster, into: &bytes) }
        guard let extent else { return }
        if include.contains(.coincident) {
            bytes.append(field: Fields.coincident, varint: extent.isOneLocation ? 1 : 0)
        }
        if include.contains(.anchor) {
            writeNumbers([extent.anchor.longitude, extent.anchor.latitude], as: Fields.anchor, into: &bytes)
        }
        if include.contains(.spider), extent.isOneLocation {
            let offsets = SpiderOffsets.offsets(of: extent.count)
            bytes.append(field: Fields.spider, packed: offsets.flatMap { [$0.x + 0, $0.y + 0] })
        }
    }

    /// Writes the point with the greatest or least value as a field of a Cluster.
    private func writeTop(of cluster: ClusterOrdinal, into bytes: inout ByteWriter) {
        guard output.include.contains(.top), let point = shown?.top(of: cluster) else { return }
        let start = bytes.beginField(TypedFields.Cluster.top)
        revision.store.writeMessage(
            view.feature(of: point), into: &bytes, structProperties: output.form.structProperties ?? false,
            selection: output.properties, precision: output.precision)
        bytes.endField(start)
    }

    /// Writes a message whose fields are numbers, from 1 on.
    private func writeNumbers(_ numbers: [Double], as field: Int, into bytes: inout ByteWriter) {
        let start = bytes.beginField(field)
        for (index, number) in numbers.enumerated() {
            bytes.append(field: index + 1, nonZero: Coordinates.exact(number, output.precision))
        }
        bytes.endField(start)
    }
}

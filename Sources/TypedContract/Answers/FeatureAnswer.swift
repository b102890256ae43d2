// SPDX-License-Identifier: MIT
import JSON
import Protobuf
import TypedFeatures

/// Writes GeoJSON features of answers, which are clusters or points, and features of tiles.
struct FeatureAnswer {
    let structProperties: Bool

    /// Writes the fields of a Feature.
    func write(feature: JSONElement, into bytes: inout ByteWriter) {
        var parts = Parts()
        for (position, member) in feature.members.enumerated() { parts.add(member, at: position) }
        parts.settleKey()
        let position = parts.geometry?["coordinates"]?.numbers ?? []
        write(position, into: &bytes)
        // Clusters are written with their properties before the geometry, points with them after it. So a point that
        // has a property `cluster` is none.
        if let properties = parts.properties, properties["cluster"]?.bool == true, parts.propertiesComeFirst {
            write(cluster: properties, as: TypedFields.Feature.cluster, into: &bytes)
        } else {
            write(point: parts, Array(position.dropFirst(2)), as: TypedFields.Feature.point, into: &bytes)
        }
        if let key = parts.key { bytes.append(field: TypedFields.Feature.key, string: key, keepsEmpty: false) }
        if let from = parts.from { bytes.append(field: TypedFields.Feature.fromKey, string: from, keepsEmpty: true) }
    }

    private func write(_ position: [Double], into bytes: inout ByteWriter) {
        bytes.append(field: TypedFields.Feature.longitude, nonZero: position.first ?? 0)
        bytes.append(field: TypedFields.Feature.latitude, nonZero: position.dropFirst().first ?? 0)
    }

    /// A feature's members.
    private struct Parts {
        var identifier: JSONElement?
        var geometry: JSONElement?
        var properties: JSONElement?
        var key: JSONElement?
        var from: JSONElement?
        var propertiesComeFirst = false
        /// Further members as text, each after a comma.
        var members: [(key: JSONElement, value: JSONElement)] = []

        mutating func add(_ member: (key: JSONElement, value: JSONElement), at position: Int) {
            if member.key.isString("type") { return }
            if member.key.isString("id") {
                identifier = member.value
            } else if member.key.isString("geometry") {
                geometry = member.value
            } else if member.key.isString("properties") {
                properties = member.value
                propertiesComeFirst = geometry == nil
            } else {
                members.append(member)
            }
        }

        /// Finds the marker's key, which the daemon has added after all members that were sent, and after it perhaps
        /// the key of the marker that it comes from.
        mutating func settleKey() {
            func isKey(_ member: (key: JSONElement, value: JSONElement)?) -> Bool {
                member.map { $0.key.isString("key") && $0.value.isMarkerKey } ?? false
            }
            if let last = members.last, last.key.isString("from"), isKey(members.dropLast().last) {
                from = last.value
                members.removeLast()
            }
            if let last = members.last, isKey(last) {
                key = last.value
                members.removeLast()
            }
        }
    }

    private func write(
        point parts: Parts, _ further: [Double], as field: Int, into bytes: inout ByteWriter
    ) {
        let start = bytes.beginField(field)
        var members = ByteWriter(capacity: 64)
        for (key, value) in parts.members {
            members.append(",")
            members.append(contentsOf: key.rawText)
            members.append(":")
            members.append(contentsOf: value.rawText)
        }
        if let identifier = parts.identifier {
            bytes.append(field: TypedFields.Point.id, featureID: identifier.rawText)
        }
        if let properties = parts.properties {
            bytes.append(
                properties: properties.rawText, text: TypedFields.Point.propertiesJson,
                structure: TypedFields.Point.properties, structProperties: structProperties)
        }
        bytes.append(field: TypedFields.Point.further, packed: further)
        bytes.append(field: TypedFields.Point.membersJson, members: members)
        bytes.endField(start)
    }

    // MARK: Clusters

    /// Writes a Cluster. Of its properties, those before `cluster` are aggregates, and the daemon has added the others.
    private func write(cluster properties: JSONElement, as field: Int, into bytes: inout ByteWriter) {
        let members = Array(properties.members)
        let first = members.lastIndex { $0.key.isString("cluster") } ?? 0
        func member(_ name: StaticString) -> JSONElement? { members[first...].last { $0.key.isString(name) }?.value }
        func number(_ name: StaticString) -> UInt64? {
            member(name)?.integer.map { UInt64(bitPattern: $0) }
        }
        typealias Fields = TypedFields.Cluster
        let start = bytes.beginField(field)
        bytes.append(field: Fields.id, nonZero: number("cluster_id") ?? 0)
        bytes.append(field: Fields.pointCount, nonZero: number("point_count") ?? 0)
        write(aggregates: members[..<first], into: &bytes)
        if let weight = member("point_weight")?.number { bytes.append(field: Fields.pointWeight, double: weight) }
        if let partition = member("partition") {
            bytes.append(field: Fields.partitionText, string: partition, keepsEmpty: true)
            if let number = partition.number { bytes.append(field: Fields.partitionNumber, double: number) }
        }
        if let total = number("total_count") { bytes.append(field: Fields.totalCount, varint: total) }
        if let hull = member("hull") {
            let geometry = bytes.beginField(Fields.hull)
            bytes.append(field: TypedFields.Hull.coordinates, packed: hull["coordinates"]?.numbers ?? [])
            bytes.endField(geometry)
        }
        if let box = member("bbox") { write(box.numbers, as: Fields.bbox, into: &bytes) }
        if let zoom = number("expansionZoom") { bytes.append(field: Fields.expansionZoom, varint: zoom) }
        if let flag = member("coincident")?.bool { bytes.append(field: Fields.coincident, varint: flag ? 1 : 0) }
        if let anchor = member("anchor") { write(anchor.numbers, as: Fields.anchor, into: &bytes) }
        if let spider = member("spider") { bytes.append(field: Fields.spider, packed: spider.numbers) }
        if let top = member("top") { write(top: top, as: Fields.top, into: &bytes) }
        bytes.endField(start)
    }

    private func write(
        aggregates: ArraySlice<(key: JSONElement, value: JSONElement)>, into bytes: inout ByteWriter
    ) {
        guard !aggregates.isEmpty else { return }
        var text = ByteWriter(capacity: 256)
        for (key, value) in aggregates {
            text.append(text.count == 0 ? "{" : ",")
            text.append(contentsOf: key.rawText)
            text.append(":")
            text.append(contentsOf: value.rawText)
        }
        text.append("}")
        bytes.append(
            properties: text, text: TypedFields.Cluster.propertiesJson, structure: TypedFields.Cluster.properties,
            structProperties: structProperties)
    }

    /// Writes a message whose fields are numbers, from 1 on.
    private func write(_ numbers: [Double], as field: Int, into bytes: inout ByteWriter) {
        let start = bytes.beginField(field)
        for (index, number) in numbers.enumerated() { bytes.append(field: index + 1, nonZero: number) }
        bytes.endField(start)
    }

    /// Writes the feature of a cluster with the greatest value, `{"id","coordinates","properties"}`.
    private func write(top: JSONElement, as field: Int, into bytes: inout ByteWriter) {
        let start = bytes.beginField(field)
        let position = top["coordinates"]?.numbers ?? []
        write(position, into: &bytes)
        var parts = Parts()
        (parts.identifier, parts.properties) = (top["id"], top["properties"])
        write(point: parts, Array(position.dropFirst(2)), as: TypedFields.Feature.point, into: &bytes)
        bytes.endField(start)
    }

    // MARK: Tiles and markers

    /// Writes the fields of a TileFeature.
    func write(tileFeature: JSONElement, into bytes: inout ByteWriter) {
        let coordinates = tileFeature["geometry"]?.numbers ?? []
        let tags = tileFeature["tags"]
        typealias Fields = TypedFields.TileFeature
        if tileFeature["type"]?.number == 3 {
            let xs = coordinates.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
            let ys = coordinates.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
            let (left, top) = (xs.min() ?? 0, ys.min() ?? 0)
            writeCorner(left, top, into: &bytes)
            let start = bytes.beginField(Fields.square)
            bytes.append(field: TypedFields.Square.size, nonZero: UInt64(max(0, min((xs.max() ?? 0) - left, 0x1p32))))
            bytes.append(
                field: TypedFields.Square.pointCount,
                nonZero: UInt64(bitPattern: tags?["point_count"]?.integer ?? 0))
            bytes.endField(start)
            return
        }
        writeCorner(coordinates.first ?? 0, coordinates.dropFirst().first ?? 0, into: &bytes)
        if let tags, isCluster(tags) {
            write(cluster: tags, as: Fields.cluster, into: &bytes)
        } else {
            var parts = Parts()
            (parts.identifier, parts.properties) = (tileFeature["id"], tags)
            write(point: parts, [], as: Fields.point, into: &bytes)
        }
        if let key = tileFeature["key"] { bytes.append(field: Fields.key, string: key, keepsEmpty: false) }
    }

    private func writeCorner(_ x: Double, _ y: Double, into bytes: inout ByteWriter) {
        func bits(_ number: Double) -> UInt64 { WireFormat.zigZag(Int64(max(-0x1p31, min(number, 0x1p31 - 1)))) }
        bytes.append(field: TypedFields.TileFeature.x, nonZero: bits(x))
        bytes.append(field: TypedFields.TileFeature.y, nonZero: bits(y))
    }

    /// Whether a tile's feature has all that each cluster has.
    private func isCluster(_ tags: JSONElement) -> Bool {
        tags["cluster"]?.bool == true && tags["cluster_id"]?.number != nil && tags["point_count"]?.number != nil
            && tags["point_count_abbreviated"] != nil
    }

    /// Writes the fields of a RemovedMarker: a key, or with transitions an object.
    func write(removed: JSONElement, into bytes: inout ByteWriter) {
        let key = removed.kind == .string ? removed : removed["key"]
        if let key { bytes.append(field: TypedFields.RemovedMarker.key, string: key, keepsEmpty: false) }
        if let into = removed["into"] {
            bytes.append(field: TypedFields.RemovedMarker.intoKey, string: into, keepsEmpty: true)
        }
    }
}

extension JSONElement {
    /// Whether it is a marker's key: sixteen digits, and perhaps a number after a minus sign.
    fileprivate var isMarkerKey: Bool {
        guard let text = string?.utf8, text.count >= 16 else { return false }
        let rest = text.dropFirst(16)
        return text.prefix(16).allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
            && (rest.isEmpty || rest.first == UInt8(ascii: "-"))
    }
}

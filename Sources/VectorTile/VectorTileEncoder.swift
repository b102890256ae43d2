// SPDX-License-Identifier: MIT
import JSON
import Protobuf

/// Writes Mapbox Vector Tiles, version 2.1, of one layer of points and rectangles.
///
/// It takes features one by one and reuses its memory, so one encoder may write any number of tiles:
///
///     encoder.begin(layer: "cities", extent: 512)
///     encoder.feature(x: 10, y: 20, id: 7)
///     encoder.tags(json: properties)
///     encoder.finish(into: &bytes)
///
/// A tile has strings, numbers and booleans. Integers of up to 64 bits are written as uint or, if negative, as sint
/// (below -2^52 as int); other numbers as double. A null has no tag. Arrays and objects are written as their JSON text
/// without spaces, as map renderers expect. Of equal keys in a feature the last one counts. The layer has each key and
/// each value once. Source: https://github.com/mapbox/vector-tile-spec/tree/master/2.1
public struct VectorTileEncoder: ~Copyable {
    /// The fields before the features: name, version, extent.
    private var head = ByteWriter(capacity: 128)
    private var features = ByteWriter(capacity: 4096)
    var keys = FieldDictionary()
    var values = FieldDictionary()

    private var current: Geometry?
    /// The tags of the current feature: the number of a key, and the number of its value or `dropped`.
    private var tags = ReusedArray<Tag>()
    /// For each key, the index of its tag among those of the last feature that has it.
    private var indexes = ReusedArray<TagIndex>()
    private var featureNumber: UInt32 = 0
    /// For each key, the key that followed it last; the first entry is for the beginning of a feature. Features of a
    /// source mostly have the same keys in the same order, so this guess usually saves the search.
    private var followers = ReusedArray<UInt32>()
    var lastKey: UInt32?
    /// The keys of a cluster's tags, once the tile has them.
    var clusterKeys: (UInt32, UInt32, UInt32, UInt32)?
    /// For each key, whether it was seen without escapes.
    private var unescaped = ReusedArray<Bool>()
    private var packedTags = ByteWriter(capacity: 256)
    private var packedRing = ByteWriter(capacity: 64)

    /// Where a feature is, and its id.
    private struct Geometry {
        var x: Int32
        var y: Int32
        /// The opposite corner; nil for a point.
        var corner: (x: Int32, y: Int32)?
        var id: UInt64?
    }

    private static let dropped = UInt32.max

    public init() { followers.append(0) }

    /// Begins a tile; one that was not finished is discarded.
    ///
    /// - Parameters:
    ///   - layer: the layer's name, not empty.
    ///   - extent: the length of the tile's side, in the unit of the features' x and y.
    public mutating func begin(layer: String, extent: UInt32) {
        head.truncate(to: 0)
        features.truncate(to: 0)
        keys.removeAll()
        values.removeAll()
        indexes.removeAll()
        tags.removeAll()
        followers.removeAll()
        followers.append(0)
        unescaped.removeAll()
        (current, clusterKeys) = (nil, nil)
        featureNumber = 0
        head.append(TileField.Layer.version)
        head.append(varint: 2)
        head.append(TileField.Layer.name)
        var layer = layer
        layer.withUTF8 { name in
            head.append(varint: UInt64(name.count))
            head.append(contentsOf: UnsafeRawBufferPointer(name))
        }
        head.append(TileField.Layer.extent)
        head.append(varint: UInt64(extent))
    }

    /// Begins a point, to which the tags that follow belong.
    ///
    /// - Parameters:
    ///   - x: the distance from the left edge; points outside of the tile are allowed.
    ///   - y: the distance from the upper edge.
    ///   - id: nil if the feature has no id that a tile can have.
    public mutating func feature(x: Int64, y: Int64, id: UInt64?) {
        endFeature()
        begin(Geometry(x: Int32(clamping: x), y: Int32(clamping: y), corner: nil, id: id))
    }

    /// Begins a rectangle, to which the tags that follow belong. One without area is left out by readers.
    public mutating func rectangle(left: Int64, top: Int64, right: Int64, bottom: Int64) {
        endFeature()
        let corner = (Int32(clamping: right), Int32(clamping: bottom))
        begin(Geometry(x: Int32(clamping: left), y: Int32(clamping: top), corner: corner, id: nil))
    }

    @inline(__always) private mutating func begin(_ geometry: Geometry) {
        current = geometry
        featureNumber &+= 1
        lastKey = nil
    }

    /// The size of the tile so far, without the feature that has not ended.
    public var byteCount: Int { head.count + features.count + keys.fields.count + values.fields.count }

    /// Ends the tile and appends it. A tile without features is empty: nothing is appended.
    ///
    /// - Complexity: O(size of the tile).
    public mutating func finish(into bytes: inout ByteWriter) {
        endFeature()
        guard features.count > 0 else { return }
        let size = byteCount
        bytes.reserve(size + 11)
        bytes.append(TileField.layer)
        bytes.append(varint: UInt64(size))
        head.withUnsafeBytes { bytes.append(contentsOf: $0) }
        features.withUnsafeBytes { bytes.append(contentsOf: $0) }
        keys.fields.withUnsafeBytes { bytes.append(contentsOf: $0) }
        values.fields.withUnsafeBytes { bytes.append(contentsOf: $0) }
        features.truncate(to: 0)
    }

    // MARK: Tags

    @inline(__always) mutating func keyNumber(_ key: UnsafeRawBufferPointer) -> UInt32 {
        let last = lastKey.map { Int($0) &+ 1 } ?? 0
        var number = followers[last]
        if !keys.field(number, holds: key) {
            number = searchKey(key)
            followers[last] = number
            if number == followers.count &- 1 { followers.append(0) }
        }
        lastKey = number
        return number
    }

    /// The key at an offset of a text and its length, if it is the key that usually follows.
    @inline(__always) mutating func likelyKey(
        _ text: UnsafeRawBufferPointer, at offset: Int
    ) -> (number: UInt32, length: Int)? {
        let number = followers[lastKey.map { Int($0) &+ 1 } ?? 0]
        // A key with a backslash is not written as it is.
        guard Int(number) < unescaped.count, unescaped[Int(number)],
            let length = keys.field(number, begins: text, at: offset)
        else { return nil }
        lastKey = number
        return (number, length)
    }

    /// The number of a key that is written without escapes.
    mutating func keyNumber(unescaped key: UnsafeRawBufferPointer) -> UInt32 {
        let number = keyNumber(key)
        unescaped.extend(to: Int(number) &+ 1, with: false)
        unescaped[Int(number)] = true
        return number
    }

    private mutating func searchKey(_ key: UnsafeRawBufferPointer) -> UInt32 {
        keys.fields.append(TileField.Layer.key)
        keys.fields.append(varint: UInt64(key.count))
        keys.fields.append(contentsOf: key)
        return keys.intern()
    }

    /// - Parameter value: nil removes the tag of the key.
    @inline(__always) mutating func setTag(_ key: UInt32, _ value: UInt32?) {
        indexes.extend(to: Int(key) &+ 1, with: TagIndex(feature: 0, index: 0))
        let known = indexes[Int(key)]
        if known.feature == featureNumber {
            tags[Int(known.index)].value = value ?? Self.dropped
        } else if let value {
            indexes[Int(key)] = TagIndex(feature: featureNumber, index: UInt32(truncatingIfNeeded: tags.count))
            tags.append(Tag(key: key, value: value))
        }
    }

    // MARK: Features

    /// Writes the current feature after all its tags.
    private mutating func endFeature() {
        guard let point = current else { return }
        current = nil
        packTags()
        let x = WireFormat.zigZag(Int64(point.x))
        let y = WireFormat.zigZag(Int64(point.y))
        if let corner = point.corner { packRing(point.x, point.y, corner) }
        let geometrySize =
            point.corner != nil ? packedRing.count : 1 + WireFormat.length(varint: x) + WireFormat.length(varint: y)
        var size = 2 + 2 + geometrySize
        if let id = point.id { size += 1 + WireFormat.length(varint: id) }
        let tagsSize = packedTags.count
        if tagsSize > 0 { size += 1 + WireFormat.length(varint: UInt64(tagsSize)) + tagsSize }

        features.append(TileField.Layer.feature)
        features.append(varint: UInt64(size))
        if let id = point.id {
            features.append(TileField.Feature.id)
            features.append(varint: id)
        }
        if tagsSize > 0 {
            features.append(TileField.Feature.tags)
            features.append(varint: UInt64(tagsSize))
            packedTags.withUnsafeBytes { features.append(contentsOf: $0) }
        }
        features.append(TileField.Feature.type)
        features.append(point.corner == nil ? Self.pointType : Self.polygonType)
        features.append(TileField.Feature.geometry)
        features.append(UInt8(truncatingIfNeeded: geometrySize))
        guard point.corner == nil else {
            return packedRing.withUnsafeBytes { features.append(contentsOf: $0) }
        }
        features.append(Self.moveToOnce)
        features.append(varint: x)
        features.append(varint: y)
    }

    /// Writes the ring of a rectangle, clockwise on the screen, as the outer ring of a polygon has to be.
    private mutating func packRing(_ x: Int32, _ y: Int32, _ corner: (x: Int32, y: Int32)) {
        let (width, height) = (Int64(corner.x) - Int64(x), Int64(corner.y) - Int64(y))
        packedRing.truncate(to: 0)
        packedRing.append(Self.moveToOnce)
        for step in [Int64(x), Int64(y)] { packedRing.append(varint: WireFormat.zigZag(step)) }
        packedRing.append(Self.lineToThrice)
        for step in [width, 0, 0, height, -width, 0] { packedRing.append(varint: WireFormat.zigZag(step)) }
        packedRing.append(Self.closePath)
    }

    private mutating func packTags() {
        packedTags.truncate(to: 0)
        for index in 0..<tags.count {
            let tag = tags[index]
            guard tag.value != Self.dropped else { continue }
            packedTags.append(varint: UInt64(tag.key))
            packedTags.append(varint: UInt64(tag.value))
        }
        tags.removeAll()
    }

    /// GeomType POINT.
    private static let pointType: UInt8 = 1
    /// GeomType POLYGON.
    private static let polygonType: UInt8 = 3
    /// The command MoveTo, id 1, with a count of 1.
    private static let moveToOnce: UInt8 = 1 | 1 << 3
    /// The command LineTo, id 2, with a count of 3.
    private static let lineToThrice: UInt8 = 2 | 3 << 3
    /// The command ClosePath, id 7.
    private static let closePath: UInt8 = 7 | 1 << 3
}

/// A tag: the numbers of its key and of its value.
struct Tag: BitwiseCopyable {
    var key: UInt32
    var value: UInt32
}

/// The index of a key's tag among those of a feature.
struct TagIndex: BitwiseCopyable {
    var feature: UInt32
    var index: UInt32
}

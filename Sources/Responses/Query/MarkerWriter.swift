// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import JSON
import SourceEngine
import SystemSupport

/// Finds a node's marker and writes it with its key.
struct MarkerWriter: ~Copyable {
    private let features: FeatureWriter
    private var scratch = ByteWriter(capacity: 1024)

    init(_ features: FeatureWriter) { self.features = features }

    /// The member that holds a marker's key. A feature's own member of that name is omitted.
    static let keyMember: StaticString = "key"

    /// A hash of a node's text.
    mutating func content(of node: Node) throws(SourceError) -> UInt64 {
        scratch.truncate(to: 0)
        try Self.write(node, with: features, into: &scratch)
        var content = Fingerprint(seed: Fingerprint.secret)
        scratch.withUnsafeBytes { content.add($0) }
        return content.value
    }

    /// Writes the feature with its key after its other members.
    ///
    /// - Parameters:
    ///   - field: in a message, the field that it is.
    ///   - source: the key of the marker that it comes from.
    func write(
        _ node: Node, as field: Int, key: MarkerKey, from source: MarkerKey? = nil, into bytes: inout ByteWriter
    ) throws(SourceError) {
        if let structProperties = features.output.form.structProperties {
            return try features.writeMessage(node, as: field, key: key, from: source, structProperties, into: &bytes)
        }
        try Self.write(node, with: features, into: &bytes)
        bytes.truncate(to: bytes.count - 1)
        bytes.append(",\"")
        bytes.append(Self.keyMember)
        bytes.append("\":")
        Self.write(key: key, into: &bytes)
        if let source {
            bytes.append(",\"from\":")
            Self.write(key: source, into: &bytes)
        }
        bytes.append("}")
    }

    private static func write(
        _ node: Node, with features: FeatureWriter, into bytes: inout ByteWriter
    ) throws(SourceError) {
        guard case .point(let point) = node else { return try features.write(node, into: &bytes) }
        let output = features.output
        features.revision.store.write(
            features.view.feature(of: point), into: &bytes, selection: output.properties,
            precision: output.precision, leavingOut: keyMember, mark: features.mark(of: point))
    }

    /// The key of a node's marker with transitions. A pinned point has one of its own, since the marker of the cluster
    /// that grew from it has the point's.
    func key(of node: Node, _ keys: FeatureKeys) -> MarkerKey {
        let key = keys.key(of: node)
        guard case .point(let point) = node, features.mark(of: point) != nil else { return key }
        var identity = Fingerprint(seed: Fingerprint.open)
        identity.add(UInt64(3))
        identity.add(key.identity)
        return MarkerKey(identity: identity.value, occurrence: key.occurrence)
    }

    /// Writes a key as a JSON string: the identity's sixteen digits, and the occurrence if it is not the first.
    static func write(key: MarkerKey, into bytes: inout ByteWriter) {
        bytes.append("\"")
        write(digitsOf: key, into: &bytes)
        bytes.append("\"")
    }

    /// The same as a field of a message.
    static func write(key: MarkerKey, as field: Int, into bytes: inout ByteWriter) {
        let start = bytes.beginField(field)
        write(digitsOf: key, into: &bytes)
        bytes.endField(start)
    }

    private static func write(digitsOf key: MarkerKey, into bytes: inout ByteWriter) {
        for shift in stride(from: UInt64(60), through: 0, by: -4) {
            let digit = UInt8(truncatingIfNeeded: key.identity >> shift & 15)
            bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
        if key.occurrence > 0 {
            bytes.append("-")
            bytes.append(integer: key.occurrence)
        }
    }

    /// A cluster's identity is its position, its count and its aggregates. A point's identity is its feature's id or,
    /// without one, its whole text. For a point, call `content` just before.
    mutating func identity(of node: Node) -> UInt64 {
        var identity = Fingerprint(seed: Fingerprint.open)
        switch node {
        case .cluster(let cluster):
            identity.add(UInt64(1))
            add(cluster, to: &identity)
        case .point(let point):
            let feature = features.view.feature(of: point)
            if let hash = features.revision.store.identifierHash(feature, FeatureCodes.key) { return hash }
            identity.add(UInt64(2))
            scratch.withUnsafeBytes { identity.add($0) }
        }
        return identity.value
    }

    private mutating func add(_ cluster: ClusterOrdinal, to identity: inout Fingerprint) {
        let index = features.view.index
        let centre = index.coordinates(of: cluster)
        identity.add(Coordinates.rounded(centre.longitude, features.output.precision))
        identity.add(Coordinates.rounded(centre.latitude, features.output.precision))
        let count = index.pointCount(of: cluster)
        identity.add(UInt64(count))
        // A cluster that loses nothing by a restriction is the same marker as without one.
        if let shown = features.shown?.count(of: .cluster(cluster)), shown != count { identity.add(UInt64(shown)) }
        // In a window a cluster has no weight.
        identity.add(features.shown?.window == nil ? index.weight(of: cluster) ?? 0 : 0)
        scratch.truncate(to: 0)
        features.writeAggregates(of: cluster, into: &scratch)
        if let partition = features.view.partition(of: cluster) { scratch.append(partition) }
        scratch.withUnsafeBytes { identity.add($0) }
    }
}

/// A marker's key, known to the daemon and the client.
struct MarkerKey: Sendable, BitwiseCopyable, Hashable, Comparable {
    /// Identifies a marker from one answer to the next.
    var identity: UInt64
    /// Distinguishes markers with the same identity.
    var occurrence: UInt32

    static func < (a: MarkerKey, b: MarkerKey) -> Bool {
        (a.identity, a.occurrence) < (b.identity, b.occurrence)
    }
}

/// The keys of markers that transitions follow: a marker's key is that of the feature that it grew from, the same at
/// every zoom and in every revision.
struct FeatureKeys {
    private let revision: Revision
    private let view: View
    private let codes: FeatureCodes

    init(_ revision: Revision, _ view: View, _ cancellation: Cancellation) throws(SourceError) {
        self.revision = revision
        self.view = view
        codes = try revision.featureCodes(cancellation).seen(in: view)
    }

    /// The key of a node's origin: that feature's id by its value or, without one, its text. Features for which that is
    /// the same are distinguished by their rank.
    func key(of node: Node) -> MarkerKey {
        let feature = view.feature(of: view.index.origin(of: node))
        let (hash, rank) = codes.identity(of: feature, in: revision.store)
        guard view.leastCount <= 1 else {
            // Whoever may see no single feature must not find the clusters of one whose id it knows.
            var identity = Fingerprint(seed: Fingerprint.secret)
            identity.add(hash)
            identity.add(UInt64(rank))
            return MarkerKey(identity: identity.value, occurrence: 0)
        }
        return MarkerKey(identity: hash, occurrence: UInt32(truncatingIfNeeded: rank))
    }
}

/// A 64-bit hash of a text, computed part by part.
///
/// With the open seed, equal texts have equal fingerprints on every machine. With the secret seed, nobody
/// outside can construct two texts with the same fingerprint.
struct Fingerprint {
    private var state: UInt64
    private let factor: UInt64
    private var length: UInt64 = 0

    /// The seed of fingerprints that clients see.
    static let open: UInt64 = 0x6A09_E667_F3BC_C908
    /// The seed of this process only.
    static let secret = UInt64.random(in: 0...(.max))

    init(seed: UInt64) {
        state = seed
        factor = Self.fold(seed ^ 0xBB67_AE85_84CA_A73B, 0x3C6E_F372_FE94_F82B)
    }

    mutating func add(_ word: UInt64) {
        length &+= 8
        state = Self.fold(state ^ word, factor &+ length &* 2)
    }

    mutating func add(_ number: Double) { add(number.bitPattern) }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var index = 0
        while bytes.count - index >= 8 {
            add(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            index += 8
        }
        // Includes the number of remaining bytes, so that trailing zeros count.
        var rest = UInt64(bytes.count - index) << 56
        for offset in 0..<(bytes.count - index) { rest |= UInt64(bytes[index + offset]) << (8 * offset) }
        add(rest)
    }

    var value: UInt64 { Self.fold(state ^ length, factor) ^ state }

    /// Combines both halves of a product, which spreads every bit of `word`.
    private static func fold(_ word: UInt64, _ factor: UInt64) -> UInt64 {
        let (high, low) = word.multipliedFullWidth(by: factor | 1)
        return high ^ low
    }
}

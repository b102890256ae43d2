// SPDX-License-Identifier: MIT
import JSON

/// Gathers features into a store.
public struct FeatureStoreBuilder: ~Copyable, Sendable {
    public let policy: InvalidFeaturePolicy
    /// How many features were taken in.
    public var accepted: Int { gathered.ends.offsets.count }
    /// How many bad features were left out.
    public private(set) var skipped = 0
    /// The same by reason.
    public private(set) var skippedReasons: [String: Int] = [:]

    /// Asked before the builder takes more memory, with how many bytes it would hold then. Where the answer
    /// is no, adding throws `tooLarge`.
    public var admits: @Sendable (_ bytes: Int) -> Bool = { _ in true }

    /// Told the properties of all features taken in; to be set before the first.
    public var collector: (any PropertyCollector)?

    private let promoteId: String?
    private var gathered = GatheredFeatures()
    /// Made at the first need; parsers are not Sendable, and a builder is used by one thread at a time.
    private let workshop = Workshop()

    /// A builder's parser and its room for one piece.
    ///
    /// A builder is noncopyable and its methods exclusive, so nobody uses this from two threads at once;
    /// that is why it may be called Sendable.
    private final class Workshop: @unchecked Sendable {
        var parser: FeatureParser?
        var parsed: ParsedFeatures?
    }

    /// - Parameter promoteId: the property to use as features' id; nil keeps their own.
    public init(policy: InvalidFeaturePolicy, promoteId: String?) {
        self.policy = policy
        self.promoteId = promoteId
    }

    /// Adds the features of a JSON array's text. Where it throws, nothing of the text was added, and the
    /// builder can only be thrown away.
    public mutating func append(features json: UnsafeRawBufferPointer) throws(GeoJSONError) {
        let parser = workshop.parser ?? FeatureParser(promoteId: promoteId)
        workshop.parser = parser
        let parsed = workshop.parsed ?? makeResult()
        workshop.parsed = parsed
        parsed.removeAll()
        do throws(JSONError) {
            try parser.parse(json, into: parsed)
        } catch {
            throw .malformed(message: error.message, offset: error.offset)
        }
        try add(parsed)
    }

    func makeParser() -> FeatureParser { FeatureParser(promoteId: promoteId) }

    func makeResult() -> ParsedFeatures { ParsedFeatures(piece: collector?.makePiece()) }

    /// Takes over what another thread has read.
    mutating func add(_ parsed: ParsedFeatures) throws(GeoJSONError) {
        let before = accepted + skipped
        if policy == .reject, let (place, fault) = parsed.faults.first {
            throw .badFeature(index: before + place, fault: fault)
        }
        for (_, fault) in parsed.faults { skip(fault) }
        guard
            admits(
                gathered.memoryBytes + parsed.blob.count + parsed.ends.count * GatheredFeatures.bytesOfFeature
                    + (collector?.memoryBytes ?? 0)
            )
        else { throw .tooLarge }
        if let piece = parsed.piece { collector?.take(piece) }
        gathered.add(parsed)
    }

    /// Counts a feature that is no JSON at all.
    mutating func addUnreadable() throws(GeoJSONError) {
        if policy == .reject { throw .badFeature(index: accepted + skipped, fault: .badJSON) }
        skip(.badJSON)
    }

    private mutating func skip(_ fault: FeatureFault) {
        skipped += 1
        skippedReasons[fault.rawValue, default: 0] += 1
    }

    /// - Parameter moments: when the features were put in.
    public consuming func finish(moments: FeatureMoments = FeatureMoments()) -> FeatureStore {
        gathered.finish(moments)
    }
}

/// Record ends as a store keeps them: from the start of each block of features.
struct RecordOffsets: Sendable {
    var blockStarts: [Int] = []
    var offsets: [UInt32] = []

    /// Notes a record that starts at `start`.
    @inline(__always) mutating func append(start: Int) {
        if offsets.count % FeatureStore.blockSize == 0 { blockStarts.append(start) }
        offsets.append(UInt32(truncatingIfNeeded: start - blockStarts[blockStarts.count - 1]))
    }
}

/// What a builder has gathered.
private struct GatheredFeatures: Sendable {
    let blob = FeatureBlob()
    var ends = RecordOffsets()
    var coordinates = FeatureStore.FreshCoordinates(longitudes: [], latitudes: [])

    /// A record's end and two coordinates.
    static let bytesOfFeature = 20

    var memoryBytes: Int { blob.count + ends.offsets.count * Self.bytesOfFeature }

    mutating func add(_ parsed: ParsedFeatures) {
        var start = blob.count
        let base = start
        blob.append(parsed.blob.bytes)
        for end in parsed.ends {
            ends.append(start: start)
            start = base + end
        }
        coordinates.longitudes.append(contentsOf: parsed.longitudes)
        coordinates.latitudes.append(contentsOf: parsed.latitudes)
    }

    consuming func finish(_ moments: FeatureMoments) -> FeatureStore {
        blob.shrink()
        return FeatureStore(
            blob: blob, blockStarts: ends.blockStarts, offsets: Array(ends.offsets), moments: moments,
            fresh: coordinates)
    }
}

/// Some of a store's features that follow each other.
public struct FeatureSlice {
    public let store: FeatureStore
    public let rows: Range<Int>

    /// - Parameter rows: what lies outside of the store is left out.
    public init(store: FeatureStore, rows: Range<Int>) {
        self.store = store
        self.rows = rows.clamped(to: 0..<store.count)
    }
}

extension FeatureStore {
    /// A store of the features of slices, one behind the other. O(their bytes).
    ///
    /// Where a slice's store `isDamaged` afterwards, so may be the result, which does not tell.
    public static func joining(_ slices: [FeatureSlice]) -> FeatureStore {
        let slices = slices.flatMap { $0.store.plainSlices($0.rows) }
        let sizes = slices.map { $0.store.start($0.rows.upperBound) - $0.store.start($0.rows.lowerBound) }
        let blob = FeatureBlob(capacity: sizes.reduce(0, +))
        var ends = RecordOffsets()
        ends.offsets.reserveCapacity(slices.reduce(0) { $0 + $1.rows.count })
        var moments = FeatureMoments()
        for slice in slices {
            let first = slice.store.start(slice.rows.lowerBound)
            let shift = blob.count - first
            for run in slice.store.moments.runs(of: slice.rows) {
                moments.append(
                    from: ends.offsets.count + run.rows.lowerBound - slice.rows.lowerBound, run.moment)
            }
            for row in slice.rows { ends.append(start: slice.store.start(row) + shift) }
            let end = slice.store.start(slice.rows.upperBound)
            // Where the text is damaged, the slice's store tells so from now on, and the result is of no use.
            _ = slice.store.blob.guardian?.admits(first..<end, of: slice.store.blob.bytes)
            blob.append(UnsafeRawBufferPointer(rebasing: slice.store.blob.bytes[first..<end]))
        }
        blob.shrink()
        return FeatureStore(
            blob: blob, blockStarts: ends.blockStarts, offsets: ends.offsets, moments: moments,
            fresh: nil)
    }
}

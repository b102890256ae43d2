// SPDX-License-Identifier: MIT
import JSON

/// Gathers features into a store.
public struct FeatureStoreBuilder: ~Copyable, Sendable {
    public let policy: InvalidFeaturePolicy
    public let rules: FeatureRules
    /// The number of accepted features. A MultiPoint of several rows counts once.
    public private(set) var accepted = 0
    /// The number of skipped invalid features.
    public private(set) var skipped = 0
    /// The same by reason.
    public private(set) var skippedReasons: [String: Int] = [:]
    /// The first invalid features that were left out.
    public private(set) var firstSkipped: [InvalidFeature] = []
    /// Statistics for warnings about the data.
    public private(set) var advice = ImportAdvice()
    /// Which rows belong to one feature, if some feature has several.
    public private(set) var groups = RowGroups()

    /// Called before the builder takes more memory, with the number of bytes that it would hold. If it
    /// returns false, adding throws `tooLarge`.
    public var admits: @Sendable (_ bytes: Int) -> Bool = { _ in true }

    /// How many features other builders have taken from the same text before: indexes in errors continue theirs.
    public var featuresBefore = 0
    /// How many features of the text were read so far.
    public var features: Int { featuresBefore + accepted + skipped }

    /// The most rows, each a point: indexes number points and clusters in 32 bits. Adding more throws `tooMany`.
    var mostRows = Int(UInt32.max / 2)

    /// Decides when the text goes to a file; nil for never. Must be set before the first feature.
    public var spill: TextSpill? {
        get { rows.text.spill }
        set { rows.text.spill = newValue }
    }

    private var rows = GatheredRows()
    /// The number of rows of accepted features.
    public var rowCount: Int { rows.count }
    /// Made on first use. Parsers are not Sendable, and a builder is used by one thread at a time.
    private let workshop = Workshop()

    /// The most invalid features to describe individually.
    private static let mostDescribed = 20

    /// A builder's parser with memory for one piece.
    ///
    /// A builder is noncopyable and its methods exclusive, so nobody uses this from two threads at once;
    /// so it may be Sendable.
    private final class Workshop: @unchecked Sendable {
        var parser: PieceParser?
    }

    public init(policy: InvalidFeaturePolicy, rules: FeatureRules) {
        self.policy = policy
        self.rules = rules
    }

    /// - Parameter promoteId: the property to use as features' id; nil keeps their own.
    public init(policy: InvalidFeaturePolicy, promoteId: String?) {
        self.init(policy: policy, rules: FeatureRules(promoteId: promoteId))
    }

    /// Adds the features of a JSON array's text. If it throws, nothing of the text was added, and the
    /// builder must be discarded.
    public mutating func append(features json: Span<UInt8>) throws(GeoJSONError) {
        let parser = workshop.parser ?? makeParser()
        workshop.parser = parser
        do throws(JSONError) {
            try parser.parse(features: json)
        } catch {
            throw .malformed(message: error.message, offset: error.offset)
        }
        try admit(parser)
    }

    /// Adds what a parser has read.
    public mutating func admit(_ parser: PieceParser) throws(GeoJSONError) {
        try admit(parser.result) { _ in nil }
    }

    public mutating func append(features json: [UInt8]) throws(GeoJSONError) {
        try append(features: json.span)
    }

    /// A parser for this builder, or for one with the same rules.
    public func makeParser() -> PieceParser { PieceParser(rules: rules, result: ParsedFeatures()) }

    /// Reserves memory for a text to come.
    func expect(bytes: Int) { rows.expect(bytes: bytes) }

    /// Adds what was parsed.
    ///
    /// - Parameter line: the line of an offset in the text that was parsed.
    mutating func admit(_ parsed: ParsedFeatures, line: (Int) -> Int?) throws(GeoJSONError) {
        try parsed.checkCommas()
        let before = features
        advice.add(parsed.advice)
        if !parsed.faults.isEmpty || skipped > 0 { advice.note(longitudes: parsed.longitudes) }
        for fault in parsed.faults {
            if let refused = rules.refused, before + fault.index != refused {
                skipped += 1
                continue
            }
            let isDescribed = policy == .reject || firstSkipped.count < Self.mostDescribed
            var feature = InvalidFeature(
                index: before + fault.index, fault: fault.fault,
                line: isDescribed ? line(fault.range.lowerBound) : nil, identifier: fault.identifier)
            if isDescribed { feature.foreignNumber = fault.foreignNumber(line: line) }
            if policy == .reject { throw .badFeature(feature.advised(by: advice)) }
            skipped += 1
            skippedReasons[fault.fault.rawValue, default: 0] += 1
            if isDescribed { firstSkipped.append(feature) }
        }
        guard rows.count + parsed.ends.count <= mostRows else { throw .tooMany(mostRows) }
        guard admits(rows.memoryBytes(adding: parsed)) else { throw .tooLarge }
        groups.append(parsed.groups, after: rows.count)
        accepted += parsed.accepted
        rows.append(parsed)
    }

    /// Lends the id of a row as JSON text; nil if it has none. The text must be in memory.
    public func withIdentifier<Result>(_ row: Int, _ body: (UnsafeRawBufferPointer?) -> Result) -> Result {
        rows.withRecord(row) { body($0.identifier.isEmpty ? nil : $0.identifier) }
    }

    /// Adds the features of a builder that has left none out and keeps its text in memory.
    public mutating func append(_ other: borrowing FeatureStoreBuilder) throws(GeoJSONError) {
        guard rows.count + other.rows.count <= mostRows else { throw .tooMany(mostRows) }
        groups.append(other.groups, after: rows.count)
        accepted += other.accepted
        rows.append(other.rows)
    }

    mutating func note(foreignReferenceSystem name: String?) {
        advice.foreignReferenceSystem = advice.foreignReferenceSystem ?? name
    }

    mutating func note(isBlank: Bool) { advice.isOfBlankText = isBlank }

    /// - Parameter moments: when the features were inserted.
    public consuming func finish(moments: FeatureMoments = FeatureMoments()) -> FeatureStore {
        rows.finish(moments)
    }
}

extension FeatureStore {
    /// A store of the features of slices, one slice after another. O(their bytes).
    ///
    /// If a slice's store `isDamaged` afterwards, the result may be damaged without reporting it.
    ///
    /// - Parameter spill: decides when the text goes to a file; nil for never.
    public static func joining(_ slices: [FeatureSlice], spill: TextSpill? = nil) -> FeatureStore {
        let slices = slices.flatMap { $0.store.plainSlices($0.rows) }
        let size = slices.reduce(0) { $0 + $1.store.start($1.rows.upperBound) - $1.store.start($1.rows.lowerBound) }
        var text = GatheredText(size: size, spill: spill)
        let records = RecordOffsets(capacity: slices.reduce(0) { $0 + $1.rows.count })
        var moments = FeatureMoments()
        var copier = TextCopier()
        defer { copier.finish() }
        for slice in slices {
            let first = slice.store.start(slice.rows.lowerBound)
            let shift = text.count - first
            for run in slice.store.moments.runs(of: slice.rows) {
                moments.append(from: records.count + run.rows.lowerBound - slice.rows.lowerBound, run.moment)
            }
            for row in slice.rows { records.append(start: slice.store.start(row) + shift) }
            let end = slice.store.start(slice.rows.upperBound)
            copier.append(first..<end, of: slice.store, to: &text)
        }
        let (blob, file) = text.finish()
        return FeatureStore(blob: blob, text: file, records: records, moments: moments)
    }
}

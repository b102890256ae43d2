// SPDX-License-Identifier: MIT
import JSON

/// Reads a text of features like `FeatureReader` and yields the valid ones as JSON, for a program that sends
/// them on. Used by one thread at a time.
///
/// Use: `push` each piece, take `nextBatch()` until it is nil; at the end `finish()`, then `nextBatch()` again.
public final class FeatureSieve {
    /// Called with each skipped invalid feature and its text.
    public var onSkipped: ((InvalidFeature, ArraySlice<UInt8>) -> Void)?
    /// Valid features so far.
    public private(set) var accepted = 0
    /// Invalid features so far.
    public private(set) var skipped = 0
    public private(set) var skippedReasons: [String: Int] = [:]
    /// Warnings about the data so far.
    public var warnings: [String] { advice.warnings(rules) }

    private var advice = ImportAdvice()

    /// Whether the text had nothing but white space. Ask after `finish`.
    public var isBlank: Bool { cutter.isBlank }

    private let policy: InvalidFeaturePolicy
    private let rules: FeatureRules
    private let batchSize: Int
    private let parser: PieceParser
    private var cutter: FeatureCutter
    private var lines = PieceLines()
    private var input = GzipInput()
    private var batch: [UInt8] = []
    private var batches: [[UInt8]] = []

    /// A feature is three levels deep in its message.
    private static let depthOfMessage = 3

    /// - Parameters:
    ///   - batchSize: the size of a batch in bytes. One feature may exceed it.
    ///   - longest: the longest feature that can be sent, in bytes.
    public init(
        _ format: FeatureFormat, rules: FeatureRules, policy: InvalidFeaturePolicy, batchSize: Int,
        longest: Int = 15 << 20
    ) {
        (self.policy, self.rules, self.batchSize) = (policy, rules, max(1, batchSize))
        cutter = FeatureCutter(format, longestPart: longest)
        parser = PieceParser(
            rules: rules, result: ParsedFeatures(keepsRanges: true),
            maximumDepth: JSONReader.maximumDepth - Self.depthOfMessage)
    }

    /// Adds a piece of the text. O(bytes).
    public func push(_ bytes: Span<UInt8>) throws(GeoJSONError) {
        var start = 0
        while start < bytes.count {
            start += try input.push(bytes.extracting(start...)) { (text) throws(GeoJSONError) in
                try cutter.push(text) { (piece) throws(GeoJSONError) in try take(piece.joined()) }
            }
        }
        advice.foreignReferenceSystem = cutter.foreignReferenceSystem
    }

    /// Processes the rest when the text has ended.
    public func finish() throws(GeoJSONError) {
        try input.finish()
        try cutter.finish { (piece) throws(GeoJSONError) in try take(piece.joined()) }
        advice.foreignReferenceSystem = cutter.foreignReferenceSystem
        endBatch()
    }

    /// The next full batch, as the content of an array's brackets. After `finish`, also the last one.
    public func nextBatch() -> [UInt8]? { batches.isEmpty ? nil : batches.removeFirst() }

    private func take(_ piece: PieceText) throws(GeoJSONError) {
        parser.parse(piece)
        let result = parser.result
        try result.checkCommas()
        advice.foreignReferenceSystem = piece.foreignReferenceSystem
        advice.add(result.advice)
        if !result.faults.isEmpty || skipped > 0 { advice.note(longitudes: result.longitudes) }
        try skip(result, of: piece)
        accepted += result.accepted
        if piece.header != nil {
            addRecords(of: result)
        } else {
            for range in result.ranges {
                if !batch.isEmpty { batch.append(UInt8(ascii: ",")) }
                batch.append(contentsOf: piece.text[range])
                if batch.count >= batchSize { endBatch() }
            }
        }
    }

    private func skip(_ result: ParsedFeatures, of piece: PieceText) throws(GeoJSONError) {
        let before = accepted + skipped
        let line = lines.first(of: piece)
        for fault in result.faults {
            var feature = InvalidFeature(
                index: before + fault.index, fault: fault.fault, line: nil, identifier: fault.identifier)
            if policy == .reject || onSkipped != nil {
                feature.line = line + piece.lines(before: fault.range.lowerBound)
                feature.foreignNumber = fault.foreignNumber { line + piece.lines(before: $0) }
            }
            if policy == .reject { throw .badFeature(feature.advised(by: advice)) }
            skipped += 1
            skippedReasons[fault.fault.rawValue, default: 0] += 1
            onSkipped?(feature, piece.text[fault.range])
        }
    }

    /// Writes a table's rows as features.
    private func addRecords(of result: ParsedFeatures) {
        var start = 0
        var text = ByteWriter(capacity: min(batchSize, 1 << 20) + 4096)
        for end in result.ends {
            if text.count > 0 || !batch.isEmpty { text.append(UInt8(ascii: ",")) }
            FeatureRecord(result.blob.bytes, start..<end).write(into: &text)
            if batch.count + text.count >= batchSize {
                moveToBatch(&text)
                endBatch()
            }
            start = end
        }
        moveToBatch(&text)
    }

    private func moveToBatch(_ text: inout ByteWriter) {
        text.withBytes { batch.append(contentsOf: $0.bytes) }
        text.truncate(to: 0)
    }

    private func endBatch() {
        guard !batch.isEmpty else { return }
        batches.append(batch)
        batch = []
        batch.reserveCapacity(batchSize + 4096)
    }
}

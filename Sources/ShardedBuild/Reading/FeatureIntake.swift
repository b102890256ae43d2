// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import GeoJSON
import JSON
import SourceEngine
import SystemSupport

/// Reads the pieces of a step part by part, by the same rules as an import.
/// Used once, by one thread.
final class FeatureIntake {
    private let step: IntakeStep
    private let options: SourceOptions
    private let files: IntakeFiles
    private let maker: RevisionMaker
    private let key: SortKeys
    private let text: ValueWriter<UInt8>
    private let lengths: ValueWriter<UInt32>
    /// The rows' records in their order, for this step only.
    private let unsorted: ValueWriter<SortRecord>
    private let strings: ValueWriter<UInt8>
    private var identified: ExternalSort<UInt64>
    private var anonymous: ExternalSort<UInt64>
    private var summary = IntakeSummary()
    private var partitions: [JSONValue: UInt32] = [:]
    private var builder: FeatureStoreBuilder
    private let rules: FeatureRules

    /// The number of rows after which a part is complete.
    private static let rowsOfPart = 1 << 15

    init(_ step: IntakeStep, options: SourceOptions) throws(BuildError) {
        (self.step, self.options, files) = (step, options, step.output)
        guard let sortKey = options.sortKey else { throw BuildError("options.sortKey: is missing", isRefusal: true) }
        key = SortKeys(sortKey)
        var rules = options.featureRules
        rules.wrapsLongitudes = step.rules.wrapsLongitudes
        self.rules = rules
        text = try ValueWriter(files.text)
        lengths = try ValueWriter(files.lengths)
        unsorted = try ValueWriter(Attempt.path(of: files.records))
        strings = try ValueWriter(files.strings)
        let shared = SharedState(limits: SourceLimits(filterCacheBytes: 0, buildThreads: step.threads))
        maker = RevisionMaker(options: options, shared: shared, threads: step.threads, cancellation: .never)
        builder = FeatureStoreBuilder(policy: step.rules.policy, rules: rules)
        identified = ExternalSort(at: files.identified, memory: step.memory / 4)
        anonymous = ExternalSort(at: files.anonymous, memory: step.memory / 4)
    }

    /// Reads everything.
    func run() throws(BuildError) -> IntakeSummary {
        for piece in step.pieces { try read(piece) }
        (summary.textBytes, summary.stringBytes) = (text.count, strings.count)
        try text.finish()
        try strings.finish()
        try lengths.finish()
        try identified.write(to: files.identified)
        try anonymous.write(to: files.anonymous)
        try sort()
        return summary
    }

    private func sort() throws(BuildError) {
        try unsorted.finish(isTemporary: true)
        defer { FileIO.remove(unsorted.path) }
        let strings = try MappedValues<UInt8>(files.strings)
        let texts = strings.values
        var sort = ExternalSort<SortRecord>(at: files.records, memory: step.memory / 2) {
            SortRecord.isBefore($0, $1, texts)
        }
        let records = try ValueReader<SortRecord>(unsorted.path)
        while let record = try records.read() { try sort.append(record) }
        try sort.write(to: files.records)
        withExtendedLifetime(strings) {}
    }

    private func read(_ piece: IntakeStep.Piece) throws(BuildError) {
        builder.featuresBefore = 0
        do {
            try piece.read(step.rules.format, threads: step.threads, into: &builder) { builder in
                if builder.rowCount >= Self.rowsOfPart { try endPart(&builder) }
            }
            try endPart(&builder)
        } catch let error as GeoJSONError {
            throw located(error, piece)
        } catch let error as BuildError {
            throw error
        } catch {
            throw BuildError("\(error)")
        }
    }

    /// An error in a piece, with the line and the number that a reader of the whole file finds.
    private func located(_ error: GeoJSONError, _ piece: IntakeStep.Piece) -> BuildError {
        let start = piece.range?.lowerBound ?? 0
        do {
            var rules = rules
            if case .badFeature(let feature) = error, feature.line == nil {
                rules.refused = feature.index + (start > 0 ? try count(piece, before: start, rules) : 0)
            } else if start == 0 {
                return BuildError(error, of: piece.input.name)
            }
            _ = try count(piece, before: piece.range?.upperBound, rules)
        } catch let error as GeoJSONError {
            return BuildError(error, of: piece.input.name)
        } catch {}
        return BuildError(error, of: piece.input.name)
    }

    /// The number of features of a piece's file before an offset, or in all of it.
    private func count(_ piece: IntakeStep.Piece, before end: Int?, _ rules: FeatureRules) throws -> Int {
        let policy = step.rules.policy
        let whole = IntakeStep.Piece(input: piece.input, range: end.map { 0..<$0 })
        var builder = FeatureStoreBuilder(policy: policy, rules: rules)
        try whole.read(step.rules.format, threads: step.threads, into: &builder) { builder in
            guard builder.rowCount >= Self.rowsOfPart else { return }
            let before = builder.features
            builder = FeatureStoreBuilder(policy: policy, rules: rules)
            builder.featuresBefore = before
        }
        return builder.features
    }

    /// Takes what has been gathered.
    private func endPart(_ builder: inout FeatureStoreBuilder) throws {
        let before = builder.featuresBefore
        var next = FeatureStoreBuilder(policy: step.rules.policy, rules: rules)
        next.featuresBefore = builder.features
        swap(&next, &builder)
        for (reason, count) in next.skippedReasons { summary.skippedReasons[reason, default: 0] += count }
        let (accepted, groups) = (next.accepted, next.groups)
        let gathered = next.finish(moments: FeatureMoments(all: 0))
        let batch = try screen(gathered, groups, before: before)
        summary.accepted += accepted - batch.badWeights
        if batch.badWeights > 0 { summary.skippedReasons[FeatureBatch.badWeight, default: 0] += batch.badWeights }
        try add(batch.store(after: nil))
    }

    /// - Parameter before: how many features of the piece were read before these.
    private func screen(_ store: FeatureStore, _ groups: RowGroups, before: Int) throws -> FeatureBatch {
        do throws(SourceError) {
            return try maker.screen(store, policy: step.rules.policy, groups: groups)
        } catch {
            guard case .badFeature(let index?, FeatureBatch.badWeight, _, _) = error else { throw BuildError(error) }
            throw GeoJSONError.badFeature(InvalidFeature(index: before + index, fault: .badWeight))
        }
    }

    private func add(_ store: FeatureStore) throws(BuildError) {
        guard store.count > 0 else { return }
        try IntakeSummary.checkCount(summary.points + store.count)
        let columns = try inEngine(
            try SourceColumns(store, reading: options.pointNames, threads: step.threads, .never))
        let rows = (0..<store.count).map { UInt32(truncatingIfNeeded: $0) }
        let keys = try inEngine(try key.keys(of: rows, in: store, with: columns, threads: step.threads, .never))
        let source = columns.rows(rows, of: store, .never)
        var weights: [Double]?
        if let weight = options.weight { weights = try inEngine(try SourceColumns.weights(weight.expression, source)) }
        let partitions = try numbers(of: source)
        guard let coordinates = store.takeCoordinates(threads: step.threads, isCancelled: { false }) else {
            throw BuildError("reading was cancelled")
        }
        try coordinates.withColumns { (longitudes, latitudes) throws(BuildError) in
            for row in 0..<store.count {
                try add(
                    row, of: store, keys[row], (longitudes[row], latitudes[row]), weight: weights?[row] ?? 1,
                    partition: partitions?[row] ?? 0)
            }
        }
        try addText(of: store)
    }

    private func add(
        _ row: Int, of store: FeatureStore, _ key: SortKey, _ place: (longitude: Double, latitude: Double),
        weight: Double, partition: UInt32
    ) throws(BuildError) {
        let number = UInt32(truncatingIfNeeded: summary.points + row)
        try lengths.append(UInt32(truncatingIfNeeded: store.recordRange(row).count))
        let node = options.clustering.node(
            longitude: place.longitude, latitude: place.latitude, weight: weight, order: 0, partition: partition)
        let (kind, prefix, bytes) = SortRecord.key(key)
        let record = SortRecord(
            prefix: prefix, text: UInt64(strings.count), x: node.x, y: node.y, weight: weight, row: number,
            textCount: UInt32(truncatingIfNeeded: bytes.count), partition: partition, kind: kind)
        try bytes.withUnsafeBufferPointer { (bytes) throws(BuildError) in try strings.append(contentsOf: bytes) }
        try unsorted.append(record)
        summary.include(place)
        let entry = IdentifierIndex.prefix(FeatureCodes.hash(of: row, in: store)) | UInt64(number)
        if store.hasIdentifier(row) { try identified.append(entry) } else { try anonymous.append(entry) }
    }

    private func addText(of store: FeatureStore) throws(BuildError) {
        let window = UnsafeMutableRawBufferPointer.allocate(byteCount: FeatureStore.textStep, alignment: 16)
        defer { window.deallocate() }
        var failure: BuildError?
        store.withText(0..<store.textBytes, window: window) { bytes in
            guard let bytes else { return }
            do throws(BuildError) { try text.append(contentsOf: bytes.assumingMemoryBound(to: UInt8.self)) } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        summary.points += store.count
    }

    /// The numbers of the rows' partitions among all so far; nil without `partitionBy`.
    private func numbers(of rows: RowSource) throws(BuildError) -> [UInt32]? {
        guard let partition = options.partitionBy else { return nil }
        let found = try inEngine(try SourceColumns.partitions(partition.expression, rows))
        let numbers = found.values.map { value in
            if let known = partitions[value] { return known }
            let number = UInt32(truncatingIfNeeded: partitions.count)
            partitions[value] = number
            summary.partitions.append(value)
            return number
        }
        return found.codes.map { numbers[Int($0)] }
    }
}

extension IntakeStep.Piece {
    /// Adds the piece's features to a builder.
    ///
    /// - Parameter took: called after each read, so that the builder can be emptied.
    fileprivate func read(
        _ format: FeatureFormat, threads: Int, into builder: inout FeatureStoreBuilder,
        took: (inout FeatureStoreBuilder) throws -> Void
    ) throws {
        guard let range else {
            return try Self.read(
                try input.open(), FeatureReader(format, threads: threads), into: &builder, took: took)
        }
        guard let file = input.file else { throw BuildError("\(input.name) has no ranges") }
        let bytes = try FileRange(file.path, range)
        guard range.lowerBound > 0 else {
            return try Self.read(bytes, FeatureReader(format, threads: threads), into: &builder, took: took)
        }
        guard let features = FeatureReader(format, after: try file.head(), threads: threads) else {
            throw BuildError("\(input.name) has changed since the build began")
        }
        try Self.read(bytes, features, into: &builder, took: took)
    }

    private static func read(
        _ reader: any BuildReader, _ features: consuming FeatureReader, into builder: inout FeatureStoreBuilder,
        took: (inout FeatureStoreBuilder) throws -> Void
    ) throws {
        var isMore = true
        while isMore {
            // Copied, since the reader lends its bytes to a closure that cannot throw.
            var piece: [UInt8] = []
            isMore = try reader.read { piece = [UInt8](copying: $0) }
            try features.push(piece.span, into: &builder)
            try took(&builder)
        }
        try features.finish(into: &builder)
        try took(&builder)
    }
}

/// Reads a range of a file.
private final class FileRange: BuildReader {
    private let file: FileDescriptor
    private let path: String
    private var rest: Range<Int>

    private static let pieceSize = 256 << 10

    init(_ path: String, _ range: Range<Int>) throws(BuildError) {
        file = try onDisk(try FileDescriptor(reading: path))
        (self.path, rest) = (path, range)
    }

    func read(_ body: (Span<UInt8>) -> Void) throws -> Bool {
        let size = min(rest.count, Self.pieceSize)
        guard size > 0 else { return false }
        let bytes = try FileIO.read(size, from: file, at: rest.lowerBound, path: path)
        guard bytes.count == size else { throw BuildError("\(path) is shorter than when the build began") }
        rest = rest.lowerBound + size..<rest.upperBound
        body(bytes.span)
        return true
    }
}

// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import GeoJSON
import JSON
import SourceEngine
import SystemSupport

/// Reads the inputs part by part, by the same rules as an import: the features' text goes to the file that the image will
/// have it from, and a record of each to a file that is sorted next.
/// Used once, by one thread.
final class Intake {
    private let options: SourceOptions
    private let settings: BuildSettings
    private let files: BuildFiles
    private let maker: RevisionMaker
    private let key: SortKeys
    private let text: ValueWriter<UInt8>
    private let blockStarts: ValueWriter<Int>
    private let offsets: ValueWriter<UInt32>
    private let records: ValueWriter<SortRecord>
    private let strings: ValueWriter<UInt8>
    private var identified: ExternalSort<UInt64>
    private var anonymous: ExternalSort<UInt64>
    private var summary = IntakeSummary()
    /// Where the current block of records begins in the text.
    private var blockStart = 0
    private var partitions: [JSONValue: UInt32] = [:]
    private var builder: FeatureStoreBuilder
    private let rules: FeatureRules
    private let progress: (BuildProgress) -> Void

    /// The number of rows after which a part is complete.
    private static let rowsOfPart = 1 << 15

    init(
        _ settings: BuildSettings, _ options: SourceOptions, _ files: BuildFiles,
        _ progress: @escaping (BuildProgress) -> Void
    ) throws(BuildError) {
        (self.settings, self.options, self.files, self.progress) = (settings, options, files, progress)
        guard let sortKey = options.sortKey else { throw BuildError("options.sortKey: is missing", isRefusal: true) }
        key = SortKeys(sortKey)
        var rules = options.featureRules
        rules.wrapsLongitudes = settings.wrapsLongitudes
        self.rules = rules
        text = try ValueWriter(files.text)
        blockStarts = try ValueWriter(files.blockStarts)
        offsets = try ValueWriter(files.offsets)
        records = try ValueWriter(files.records)
        strings = try ValueWriter(files.strings)
        maker = RevisionMaker(options: options, shared: files.shared, threads: settings.workers, cancellation: .never)
        builder = FeatureStoreBuilder(policy: settings.policy, rules: rules)
        let memory = settings.memory / 4
        identified = ExternalSort(in: files.directory, name: "identified", memory: memory, by: <)
        anonymous = ExternalSort(in: files.directory, name: "anonymous", memory: memory, by: <)
    }

    /// Reads everything.
    func run() throws(BuildError) -> IntakeSummary {
        for input in settings.inputs { try read(input) }
        for writer in [text, strings] { try writer.finish() }
        try blockStarts.finish()
        try offsets.finish()
        try records.finish()
        return try finishCodes()
    }

    private func read(_ input: BuildInput) throws(BuildError) {
        builder.featuresBefore = 0
        do {
            let reader = try input.open()
            var features = FeatureReader(settings.format, threads: settings.workers)
            var isMore = true
            while isMore {
                // Copied, since the reader lends its bytes to a closure that cannot throw.
                var piece: [UInt8] = []
                isMore = try reader.read { piece = [UInt8](copying: $0) }
                try features.push(piece.span, into: &builder)
                if builder.rowCount >= Self.rowsOfPart { try endPart() }
            }
            try features.finish(into: &builder)
            try endPart()
        } catch let error as GeoJSONError {
            throw BuildError(error, of: input.name)
        } catch let error as BuildError {
            throw error
        } catch {
            throw BuildError("\(error)")
        }
    }

    /// Takes what has been gathered.
    private func endPart() throws(BuildError) {
        var next = FeatureStoreBuilder(policy: settings.policy, rules: rules)
        next.featuresBefore = builder.featuresBefore + builder.accepted + builder.skipped
        swap(&next, &builder)
        for (reason, count) in next.skippedReasons { summary.skippedReasons[reason, default: 0] += count }
        let (accepted, groups) = (next.accepted, next.groups)
        let gathered = next.finish(moments: FeatureMoments(all: 0))
        let batch = try inEngine(try maker.screen(gathered, policy: settings.policy, groups: groups))
        summary.accepted += accepted - batch.badWeights
        if batch.badWeights > 0 { summary.skippedReasons[FeatureBatch.badWeight, default: 0] += batch.badWeights }
        try add(batch.store(after: nil))
        progress(BuildProgress(stage: .reading, detail: String(summary.points)))
    }

    private func add(_ store: FeatureStore) throws(BuildError) {
        guard store.count > 0 else { return }
        guard summary.points + store.count <= Int(UInt32.max / 2) else {
            throw BuildError("there are more than \(UInt32.max / 2) points, the most that can be numbered")
        }
        let columns = try inEngine(
            try SourceColumns(store, reading: options.pointNames, threads: settings.workers, .never))
        let rows = (0..<store.count).map { UInt32(truncatingIfNeeded: $0) }
        let keys = try inEngine(try key.keys(of: rows, in: store, with: columns, threads: settings.workers, .never))
        let source = columns.rows(rows, of: store, .never)
        var weights: [Double]?
        if let weight = options.weight { weights = try inEngine(try SourceColumns.weights(weight.expression, source)) }
        let partitions = try numbers(of: source)
        guard let coordinates = store.takeCoordinates(threads: settings.workers, isCancelled: { false }) else {
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
        let start = text.count + store.recordRange(row).lowerBound
        if offsets.count % FeatureStore.rowsOfBlock == 0 {
            try blockStarts.append(start)
            blockStart = start
        }
        try offsets.append(UInt32(truncatingIfNeeded: start - blockStart))
        let node = options.clustering.node(
            longitude: place.longitude, latitude: place.latitude, weight: weight, order: 0, partition: partition)
        let (kind, prefix, bytes) = SortRecord.key(key)
        let record = SortRecord(
            prefix: prefix, text: UInt64(strings.count), x: node.x, y: node.y, weight: weight, row: number,
            textCount: UInt32(truncatingIfNeeded: bytes.count), partition: partition, kind: kind)
        try bytes.withUnsafeBufferPointer { (bytes) throws(BuildError) in try strings.append(contentsOf: bytes) }
        try records.append(record)
        var bounds = summary.bounds ?? .nowhere
        bounds.include(place)
        summary.bounds = bounds
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

    /// Writes the sorted hashes of ids and texts.
    private func finishCodes() throws(BuildError) -> IntakeSummary {
        try Self.write(&identified, to: files.identified)
        try Self.write(&anonymous, to: files.anonymous)
        let repeated = try ValueWriter<UInt32>(files.repeated)
        var merge = try SortedMerge<UInt64>([files.identified, files.anonymous], memory: 1 << 20, by: <)
        var (last, noted): (UInt64?, UInt64?) = (nil, nil)
        while let entry = try merge.next() {
            let prefix = entry >> 32
            if prefix == last, prefix != noted {
                try repeated.append(UInt32(truncatingIfNeeded: prefix))
                noted = prefix
            }
            last = prefix
        }
        try repeated.finish()
        return summary
    }

    private static func write(_ entries: inout ExternalSort<UInt64>, to path: String) throws(BuildError) {
        let writer = try ValueWriter<UInt64>(path)
        try entries.finish { (entry) throws(BuildError) in try writer.append(entry) }
        try writer.finish()
    }
}

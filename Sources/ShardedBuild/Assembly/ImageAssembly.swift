// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import ImageStore
import JSON
import SourceEngine
import SystemSupport

/// Numbers the clusters of all steps, and writes the image: the file that a daemon would write of a source with the same
/// features.
///
/// All large arrays lie in files, those of the build or unnamed ones (`FileBlocks`).
struct ImageAssembly {
    let options: SourceOptions
    let files: BuildFiles
    let intake: IntakeSummary
    /// The values of `partitionBy`, by partition.
    let partitions: [JSONValue]
    /// What the steps of reading have made.
    let parts: [Intake.Part]
    /// The outputs of all steps.
    let outputs: [LevelFiles]
    let threads: Int
    /// In bytes.
    let memory: Int

    /// Adds all else to the image's text, and gives the image its name, so that it is complete or absent.
    ///
    /// - Returns: the number of clusters, and of bytes.
    func write(to path: String) throws(BuildError) -> (clusters: Int, bytes: Int) {
        if intake.points * DecideStep.bytesOfNode > memory { FileBlocks.use(directory: files.directory) }
        defer { FileBlocks.endUse() }
        let index = try index()
        let order = try order(index)
        let store = try store()
        let columns = try inEngine(
            try SourceColumns(
                store, reading: options.propertyNames.union(options.indexedNames), threads: threads, .never))
        let maker = ViewMaker(
            options: options, store: store, columns: columns, threads: threads, cancellation: .never)
        var view = try inEngine(
            try maker.make(of: index, order: order, bounds: intake.bounds, partitions: partitions))
        let identified = try MappedValues<UInt64>(files.identified)
        let anonymous = try MappedValues<UInt64>(files.anonymous)
        let repeated = try MappedValues<UInt32>(files.repeated)
        let entries = SectionValues(identified.values, owner: identified)
        let codes = FeatureCodes(
            identified: entries, anonymous: SectionValues(anonymous.values, owner: anonymous),
            repeated: SectionValues(repeated.values, owner: repeated))
        let clusterCodes = try ClusterCodes(
            view: view, store: store, codes: codes, repeated: repeated.values,
            entries: [identified.values, anonymous.values], files: files, memory: memory
        ).make()
        if let clusterCodes { view = view.with(clusterCodes) }
        let revision = Revision(
            number: 1, options: options, store: store, columns: columns.keeping([]), view: view,
            buildMilliseconds: 0,
            // The ids' hashes are those of the clusters' ids, so that they are sorted once.
            identifiers: IdentifierIndex(entries: entries, key: FeatureCodes.key),
            codes: codes, shared: files.shared)
        return try write(revision, to: path)
    }

    private func write(_ revision: Revision, to path: String) throws(BuildError) -> (clusters: Int, bytes: Int) {
        guard let name = SourceName("image") else { throw BuildError("an image has no name") }
        let moment = Timestamp(milliseconds: 0)
        // What is written is not read again: its room on the disk is needed for what follows.
        try inEngine(
            try Snapshot.write(
                revision, of: SourceIdentity(name: name, owner: nil, createdAt: moment), updatedAt: moment,
                generation: 1, to: files.image, didWrite: FileBlocks.discard))
        try onDisk(try FileIO.rename(files.image, to: path))
        return (revision.view.index.clusterCount, FileIO.size(path))
    }

    private func order(_ index: ClusterIndex) throws(BuildError) -> PointOrder {
        // Points have their numbers in the input as ids, which are found by rows.
        guard options.generateId else {
            try CurveOrder.write(index, files, memory: memory)
            let rows = try MappedValues<UInt32>(files.rows)
            return PointOrder(rows: rows.values, along: index.curvePoints(), owner: rows)
        }
        try CurveOrder.keepInput(files, memory: memory)
        let (rows, points) = (try MappedValues<UInt32>(files.rows), try MappedValues<UInt32>(files.points))
        return PointOrder(rows: rows.values, points: points.values, owner: Owners([rows, points]))
    }

    private func store() throws(BuildError) -> FeatureStore {
        let inputRows = FileIO.exists(files.inputRows) ? try MappedValues<UInt32>(files.inputRows) : nil
        try PlacedText(
            parts: parts, files: files, features: intake.points, bytes: intake.textBytes, inputRows: inputRows,
            memory: memory, threads: threads
        ).write()
        let blockStarts = try MappedValues<Int>(files.blockStarts)
        let offsets = try MappedValues<UInt32>(files.offsets)
        let text = try ImageFile(files).text(Owners([blockStarts, offsets] + (inputRows.map { [$0] } ?? [])))
        do throws(FeatureSectionError) {
            return try FeatureStore.onSections(
                text,
                blockStarts: UnsafeRawBufferPointer(blockStarts.values),
                offsets: UnsafeRawBufferPointer(offsets.values),
                inputRows: inputRows.map { UnsafeRawBufferPointer($0.values) }, moments: FeatureMoments(all: 0))
        } catch { throw BuildError(error.message) }
    }

    // MARK: The index

    private func index() throws(BuildError) -> ClusterIndex {
        let deepest = options.clustering.maximumZoom
        var counts = [Int](repeating: 0, count: deepest + 1)
        try forEachCluster { (cluster) throws(BuildError) in
            guard Int(cluster.zoom) <= deepest else { throw BuildError("a step's output is of another build") }
            counts[Int(cluster.zoom)] += 1
        }
        let assembly = try inIndex(
            try IndexAssembly(
                options: options.clustering, pointCount: intake.points, counts: counts,
                hasWeights: options.weight != nil, hasPartitions: options.partitionBy != nil, threads: threads))
        let nodes = try ValueReader<LevelNode>(files.nodes)
        while let node = try nodes.read() { assembly.set(node) }
        try forEachCluster { (cluster) throws(BuildError) in try inIndex(try assembly.announce(cluster)) }
        assembly.endAnnouncements()
        try forEachCluster { (cluster) throws(BuildError) in assembly.set(cluster) }
        assembly.endClusters()
        try setChildren(assembly)
        return try inIndex(try assembly.finish())
    }

    private func setChildren(_ assembly: IndexAssembly) throws(BuildError) {
        for output in outputs {
            let clusters = try ValueReader<FormedCluster>(output.clusters)
            let names = try ValueReader<NodeName>(output.children)
            var children: [NodeName] = []
            while let cluster = try clusters.read() {
                children.removeAll(keepingCapacity: true)
                for _ in 0..<cluster.childCount {
                    guard let name = try names.read() else {
                        throw BuildError("\(output.children) is of another build; build again without --resume")
                    }
                    children.append(name)
                }
                assembly.setChildren(children, of: cluster.name)
            }
        }
    }

    private func forEachCluster(_ body: (FormedCluster) throws(BuildError) -> Void) throws(BuildError) {
        for output in outputs {
            let reader = try ValueReader<FormedCluster>(output.clusters)
            while let cluster = try reader.read() { try body(cluster) }
        }
    }
}

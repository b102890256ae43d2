// SPDX-License-Identifier: MIT
import Clustering
import JSON
import SourceEngine
import SystemSupport

/// One step of a build: the clusters of some zooms in one part of a level, from files to files. It gives the same files
/// however often and wherever it runs.
///
/// Of `OUTPUT.clusters`, `OUTPUT.children` and `OUTPUT.survivors` the last is written last. What the part cannot decide, since
/// it depends on nodes beyond its margin, is in `OUTPUT.open`, `OUTPUT.claimed` and `OUTPUT.taken` (`LevelStream`), if there
/// is any.
struct DecideStep: BuildStep {
    /// The file with the source's options, as JSON.
    let options: String
    let zooms: ClosedRange<Int>
    /// Nil for the whole level.
    let part: LevelPart?
    /// Files of nodes, each in order.
    let inputs: [String]
    let output: LevelFiles
    /// In bytes.
    let memory: Int
    let threads: Int

    var title: String { "a step of zooms \(zooms.lowerBound) to \(zooms.upperBound)" }

    /// What clustering a node takes at its peak, in bytes.
    static let bytesOfNode = 250

    func run() throws(BuildError) {
        // Another attempt was faster.
        if ValueFile.exists(output.survivors) { return }
        let options = try BuildFiles.sourceOptions(options).clustering
        let nodes: MappedValues<LevelNode>
        do throws(BuildError) { nodes = try loadNodes() } catch {
            // Another attempt may have ended meanwhile, and have removed the inputs.
            if ValueFile.exists(output.survivors) { return }
            throw error
        }
        let group = try inIndex(
            try LevelGroup.cluster(nodes.values, options, zooms: zooms, part: part, threads: threads))
        try write(group)
        withExtendedLifetime(nodes) {}
        // A part's nodes are copies that only its step reads.
        if part != nil { for input in inputs { FileIO.remove(input) } }
    }

    private func write(_ group: LevelGroup) throws(BuildError) {
        let clusters = try ValueWriter<FormedCluster>(output.clusters)
        let children = try ValueWriter<NodeName>(output.children)
        var open = OptionalWriter<OpenNode>(output.open)
        var claimed = OptionalWriter<ClaimedNode>(output.claimed)
        var taken = OptionalWriter<NodeName>(output.taken)
        try group.forEachCluster { (cluster, names) throws(BuildError) in
            try clusters.append(cluster)
            for name in names { try children.append(name) }
        } taken: { (name) throws(BuildError) in
            try taken.append(name)
        } claimed: { (node) throws(BuildError) in
            try claimed.append(node)
        }
        try group.forEachOpenNode { (node) throws(BuildError) in try open.append(node) }
        try clusters.finish()
        try children.finish()
        try open.finish()
        try claimed.finish()
        try taken.finish()
        let survivors = try ValueWriter<LevelNode>(output.survivors)
        try group.forEachSurvivor { (node) throws(BuildError) in try survivors.append(node) }
        try survivors.finish()
    }

    /// The nodes as one array.
    private func loadNodes() throws(BuildError) -> MappedValues<LevelNode> {
        if inputs.count == 1 { return try MappedValues(inputs[0]) }
        let merged = Attempt.path(of: output.nodes)
        let writer = try ValueWriter<LevelNode>(merged)
        var merge = try SortedMerge<LevelNode>(inputs, memory: memory / 4) { $0.order < $1.order }
        while let node = try merge.next() { try writer.append(node) }
        try writer.finish(isTemporary: true)
        defer { FileIO.remove(merged) }
        return try MappedValues(merged)
    }
}

extension DecideStep {
    var json: JSONValue {
        .object([
            "options": .string(options), "output": .string(output.base),
            "zooms": .array([.number(Double(zooms.lowerBound)), .number(Double(zooms.upperBound))]),
            "part": part?.json ?? .null,
            "inputs": .array(inputs.map { .string($0) }), "memory": .number(Double(memory)),
            "threads": .number(Double(threads)),
        ])
    }

    /// Nil if a member is missing or of another type.
    init?(_ value: JSONValue) {
        guard case .object(let object) = value, case .string(let options)? = object["options"],
            case .string(let output)? = object["output"], let zooms = object["zooms"].flatMap(StepValues.zooms),
            let inputs = object["inputs"].flatMap(StepValues.paths), case .number(let memory)? = object["memory"],
            case .number(let threads)? = object["threads"], let memory = Int(exactly: memory),
            let threads = Int(exactly: threads), threads > 0
        else { return nil }
        var part: LevelPart?
        if let value = object["part"], value != .null {
            guard let read = LevelPart(value) else { return nil }
            part = read
        }
        self.init(
            options: options, zooms: zooms, part: part, inputs: inputs, output: LevelFiles(base: output),
            memory: memory, threads: threads)
    }
}

extension LevelPart {
    var json: JSONValue {
        .object([
            "area": area.json, "margin": .number(margin), "holes": .array(holes.map(\.json)),
        ])
    }

    init?(_ value: JSONValue) {
        guard case .object(let object) = value, let area = object["area"].flatMap({ LevelRectangle($0) }),
            case .number(let margin)? = object["margin"], case .array(let holes)? = object["holes"]
        else { return nil }
        let read = holes.compactMap { LevelRectangle($0) }
        guard read.count == holes.count else { return nil }
        self.init(area, margin: margin, holes: read)
    }
}

extension LevelRectangle {
    var json: JSONValue { .array([west, north, east, south].map { .number($0) }) }

    init?(_ value: JSONValue) {
        guard case .array(let values) = value else { return nil }
        let numbers = values.compactMap { value -> Double? in
            if case .number(let number) = value { number } else { nil }
        }
        guard numbers.count == 4 else { return nil }
        self.init(west: numbers[0], north: numbers[1], east: numbers[2], south: numbers[3])
    }
}

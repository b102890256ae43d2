// SPDX-License-Identifier: MIT
import Clustering
import JSON
import SourceEngine
import SystemSupport

/// One step of a build: the clusters of some zooms in one part of a level, from files to files. It gives the same files
/// however often and wherever it runs.
///
/// Of `OUTPUT.clusters`, `OUTPUT.children` and `OUTPUT.survivors` the last is written last; or there is `OUTPUT.open`,
/// because something in the part depends on nodes beyond its margin.
public struct DecideStep: BuildStep {
    /// The file with the source's options, as JSON.
    public var options: String
    public var zooms: ClosedRange<Int>
    /// The part; if `isWhole`, all parts that the step decides, or none for the whole level.
    public var parts: [LevelPart]
    /// Whether the inputs have all nodes of the level.
    public var isWhole: Bool
    /// Files of nodes, each in order.
    public var inputs: [String]
    public var output: String
    /// In bytes.
    public var memory: Int
    public var threads: Int

    public init(
        options: String, zooms: ClosedRange<Int>, parts: [LevelPart], isWhole: Bool, inputs: [String], output: String,
        memory: Int, threads: Int
    ) {
        (self.options, self.zooms, self.parts, self.isWhole) = (options, zooms, parts, isWhole)
        (self.inputs, self.output, self.memory, self.threads) = (inputs, output, memory, threads)
    }

    var clusters: String { output + ".clusters" }
    var children: String { output + ".children" }
    var survivors: String { output + ".survivors" }
    var open: String { output + ".open" }

    public var title: String { "a step of zooms \(zooms.lowerBound) to \(zooms.upperBound)" }

    /// What clustering a node takes at its peak, in bytes.
    static let bytesOfNode = 250

    /// Runs the step.
    public func run() throws(BuildError) {
        // Another attempt was faster.
        if ValueFile.exists(survivors) { return }
        FileIO.remove(open)
        guard case .some(let value) = try BuildFiles.value(options) else {
            throw BuildError("there is no file \(options)")
        }
        let options = try inEngine(try SourceOptions(reading: value)).clustering
        // The inputs as one file, which nobody else uses.
        let merged = inputs.count == 1 ? nil : Attempt.path(of: output + ".nodes")
        defer { if let merged { FileIO.remove(merged) } }
        let nodes = try loadNodes(merged)
        if nodes.values.count * Self.bytesOfNode > memory {
            FileBlocks.use(directory: Self.directory(of: output))
        }
        let group = try inIndex(
            try LevelGroup.cluster(
                nodes.values, options, zooms: zooms, parts: parts, isWhole: isWhole, threads: threads))
        guard let group else { return try BuildFiles.write(.bool(true), to: open) }
        let clusters = try ValueWriter<FormedCluster>(clusters)
        let children = try ValueWriter<NodeName>(children)
        try group.forEachCluster { (cluster, names) throws(BuildError) in
            try clusters.append(cluster)
            for name in names { try children.append(name) }
        }
        try clusters.finish()
        try children.finish()
        let survivors = try ValueWriter<LevelNode>(survivors)
        try group.forEachSurvivor { (node) throws(BuildError) in try survivors.append(node) }
        try survivors.finish()
        withExtendedLifetime(nodes) {}
    }

    /// The nodes in one file, mapped.
    private func loadNodes(_ merged: String?) throws(BuildError) -> MappedValues<LevelNode> {
        guard let merged else { return try MappedValues(inputs[0]) }
        let writer = try ValueWriter<LevelNode>(merged)
        var merge = try SortedMerge<LevelNode>(inputs, memory: memory / 4) { $0.order < $1.order }
        while let node = try merge.next() { try writer.append(node) }
        try writer.finish()
        return try MappedValues(merged)
    }

    private static func directory(of path: String) -> String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        return parts.isEmpty ? "." : parts.joined(separator: "/")
    }
}

extension DecideStep {
    public var json: JSONValue {
        .object([
            "options": .string(options), "output": .string(output),
            "zooms": .array([.number(Double(zooms.lowerBound)), .number(Double(zooms.upperBound))]),
            "parts": .array(parts.map(\.json)), "isWhole": .bool(isWhole),
            "inputs": .array(inputs.map { .string($0) }), "memory": .number(Double(memory)),
            "threads": .number(Double(threads)),
        ])
    }

    /// Nil if a member is missing or of another type.
    public init?(_ value: JSONValue) {
        guard case .object(let object) = value, case .string(let options)? = object["options"],
            case .string(let output)? = object["output"], case .array(let zooms)? = object["zooms"],
            case .array(let parts)? = object["parts"], case .bool(let isWhole)? = object["isWhole"],
            case .array(let inputs)? = object["inputs"], case .number(let memory)? = object["memory"],
            case .number(let threads)? = object["threads"], zooms.count == 2, case .number(let low) = zooms[0],
            case .number(let high) = zooms[1], low >= 0, low <= high, high <= 24,
            let memory = Int(exactly: memory), let threads = Int(exactly: threads), threads > 0
        else { return nil }
        let read = parts.compactMap { LevelPart($0) }
        guard read.count == parts.count else { return nil }
        self.init(
            options: options, zooms: Int(low)...Int(high), parts: read, isWhole: isWhole,
            inputs: inputs.compactMap { if case .string(let path) = $0 { path } else { nil } }, output: output,
            memory: memory, threads: threads)
    }
}

extension LevelPart {
    var json: JSONValue { .array([west, north, east, south, margin].map { .number($0) }) }

    init?(_ value: JSONValue) {
        guard case .array(let values) = value else { return nil }
        let numbers = values.compactMap { value -> Double? in
            if case .number(let number) = value { number } else { nil }
        }
        guard numbers.count == 5 else { return nil }
        self.init(west: numbers[0], north: numbers[1], east: numbers[2], south: numbers[3], margin: numbers[4])
    }
}

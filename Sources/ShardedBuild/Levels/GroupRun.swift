// SPDX-License-Identifier: MIT
import Clustering
import JSON
import SystemSupport

/// Makes the clusters of a group of zooms: the level below is cut into parts, each with a margin, and each part is a step.
///
/// What depends on nodes beyond a part's margin, and what lies in a crowd, is decided by a stream in order.
struct GroupRun {
    let zooms: ClosedRange<Int>
    let options: ClusteringOptions
    let directory: String
    let optionsFile: String
    /// The nodes of the level below, in files that are each in order.
    let level: [String]
    let nodeCount: Int
    /// How many nodes a part should have at most, without its margin.
    let most: Int
    let memory: Int
    let workers: Int
    let runner: any StepRunner

    /// What the steps have made.
    struct Outcome {
        var outputs: [LevelFiles]
        var summary: BuildSummary.GroupSummary

        /// The number of nodes alive at the lowest zoom.
        func survivors() throws(BuildError) -> Int { try count(LevelNode.self, outputs.map(\.survivors)) }
    }

    func run() throws(BuildError) -> Outcome {
        try onDisk(try FileIO.makeDirectory(directory))
        let known = try BuildFiles.value(outcomeFile).flatMap { Outcome($0, in: directory) }
        if let known, !known.outputs.isEmpty { return known }
        let start = ContinuousClock.now
        var outcome = known ?? Outcome(outputs: [], summary: BuildSummary.GroupSummary(zooms: zooms, nodes: nodeCount))
        let outputs = try nodeCount <= most ? whole(&outcome.summary) : parts(&outcome)
        outcome.outputs = outputs
        outcome.summary.bytes += size(outputs.flatMap { [$0.open, $0.claimed, $0.taken, $0.survivors] } + [crowd])
        outcome.summary.seconds += (ContinuousClock.now - start) / .seconds(1)
        try BuildFiles.write(outcome.json, to: outcomeFile)
        return outcome
    }

    /// Where the outcome is kept: without outputs once the parts' nodes are written, which their steps remove.
    private var outcomeFile: String { "\(directory)/outcome.json" }

    private func whole(_ summary: inout BuildSummary.GroupSummary) throws(BuildError) -> [LevelFiles] {
        let step = DecideStep(
            options: optionsFile, zooms: zooms, part: nil, inputs: level,
            output: LevelFiles(base: "\(directory)/whole"), memory: memory, threads: workers)
        if !ValueFile.exists(step.output.survivors) { try runner.run([step]) }
        summary.parts = 1
        return [step.output]
    }

    private func parts(_ outcome: inout Outcome) throws(BuildError) -> [LevelFiles] {
        let cut = try cut()
        let steps = cut.parts.indices.filter { !cut.isCrowd[$0] }.map { step(of: $0, in: cut) }
        var outputs = steps.map(\.output)
        try shuffle(cut, steps)
        if outcome.summary.parts == 0 {
            outcome.summary.parts = steps.count
            let known = try count(LevelNode.self, outputs.map(\.nodes))
            outcome.summary.copies = known + (try count(OpenNode.self, [crowd])) - nodeCount
            outcome.summary.bytes = size(outputs.map(\.nodes))
            try BuildFiles.write(outcome.json, to: outcomeFile)
        }
        try runner.run(steps.filter { !ValueFile.exists($0.output.survivors) })
        let open = (outputs.map(\.open) + [crowd]).filter(ValueFile.exists)
        guard !open.isEmpty else { return outputs }
        outcome.summary.open = try count(OpenNode.self, open)
        let stream = LevelStream(
            options: optionsFile, zooms: zooms, open: open, claimed: outputs.map(\.claimed).filter(ValueFile.exists),
            taken: outputs.map(\.taken).filter(ValueFile.exists), output: LevelFiles(base: "\(directory)/stream"),
            memory: memory)
        if !ValueFile.exists(stream.output.survivors) { try runner.run([stream]) }
        outcome.summary.rounds = try stream.rounds()
        outputs.append(stream.output)
        return outputs
    }

    private func size(_ paths: [String]) -> Int { paths.reduce(0) { $0 + FileIO.size($1) } }

    /// The nodes in crowds.
    private var crowd: String { "\(directory)/crowd.open" }

    private func step(of part: Int, in cut: LevelCut) -> DecideStep {
        let output = LevelFiles(base: "\(directory)/part-\(part)")
        return DecideStep(
            options: optionsFile, zooms: zooms, part: cut.parts[part], inputs: [output.nodes], output: output,
            memory: memory, threads: 1)
    }

    private func cut() throws(BuildError) -> LevelCut {
        var sample = LevelSample(of: nodeCount, most: most)
        for path in level {
            let reader = try ValueReader<LevelNode>(path)
            while let node = try reader.read() { sample.add(node) }
        }
        let margin = LevelPart.margin(options, zooms: zooms)
        // Half of a margin is four radii.
        return LevelCut(
            sample, most: most, room: memory / DecideStep.bytesOfNode, leastSide: margin / 2, margin: margin)
    }

    /// Writes the nodes that each part has to know, and those in crowds, in order.
    private func shuffle(_ cut: LevelCut, _ steps: [DecideStep]) throws(BuildError) {
        // Others were left by an earlier build that was ended.
        let missing = steps.filter { !ValueFile.exists($0.output.survivors) }
        var isFirst = true
        let needsCrowd = cut.isCrowd.contains(true) && !ValueFile.exists(crowd)
        for start in stride(from: 0, to: max(1, missing.count), by: OpenFiles.written) {
            let chosen = missing[start..<min(missing.count, start + OpenFiles.written)]
            let crowd = isFirst && needsCrowd ? try ValueWriter<OpenNode>(crowd) : nil
            isFirst = false
            guard !chosen.isEmpty || crowd != nil else { return }
            try shuffle(cut, chosen, crowd)
        }
    }

    private func shuffle(
        _ cut: LevelCut, _ steps: ArraySlice<DecideStep>, _ crowd: ValueWriter<OpenNode>?
    ) throws(BuildError) {
        let buffer = max(1 << 12, min(1 << 17, memory / 4 / max(1, steps.count)))
        var writers = [ValueWriter<LevelNode>?](repeating: nil, count: cut.parts.count)
        for step in steps {
            guard let part = step.part.flatMap({ cut.parts.firstIndex(of: $0) }) else { continue }
            writers[part] = try ValueWriter(step.inputs[0], bufferBytes: buffer)
        }
        var merge = try SortedMerge<LevelNode>(level, memory: memory / 4) { $0.order < $1.order }
        while let node = try merge.next() {
            let owner = cut.owner(x: node.x, y: node.y)
            if cut.isCrowd[owner] {
                try crowd?.append(OpenNode(node, zoom: UInt32(truncatingIfNeeded: zooms.upperBound)))
                continue
            }
            try cut.forEachPart(x: node.x, y: node.y) { (part) throws(BuildError) in
                try writers[part]?.append(node)
            }
        }
        for writer in writers { try writer?.finish() }
        try crowd?.finish()
    }
}

extension GroupRun.Outcome {
    var json: JSONValue {
        // Without their directory, which may have another path when the build goes on.
        .object(["outputs": .array(outputs.map { .string($0.name) }), "summary": summary.json])
    }

    /// Nil if a member is missing or of another type.
    init?(_ value: JSONValue, in directory: String) {
        guard case .object(let object) = value, let names = object["outputs"].flatMap(StepValues.paths),
            let summary = object["summary"].flatMap({ BuildSummary.GroupSummary($0) })
        else { return nil }
        self.init(outputs: names.map { LevelFiles(base: "\(directory)/\($0)") }, summary: summary)
    }
}

/// The number of values in those of some files that exist.
private func count<Value: BitwiseCopyable>(_ type: Value.Type, _ paths: [String]) throws(BuildError) -> Int {
    var count = 0
    for path in paths where ValueFile.exists(path) { count += try ValueReader<Value>(path).count }
    return count
}

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
        /// The steps' outputs: the first parts of the names of their files.
        var outputs: [String] = []
        var parts = 0
        var copies = 0
        /// How many nodes were left open by the parts, or lay in a crowd.
        var open = 0
        /// How often the stream read nodes of a zoom, at most; 0 if nothing was open.
        var rounds = 0
        /// The number of nodes alive at the lowest zoom.
        var survivors = 0
    }

    /// How many parts' files are written at the same time.
    private static let mostWriters = 400

    func run() throws(BuildError) -> Outcome {
        try onDisk(try FileIO.makeDirectory(directory))
        var outcome = Outcome()
        if nodeCount <= most {
            let step = DecideStep(
                options: optionsFile, zooms: zooms, part: nil, inputs: level, output: "\(directory)/whole",
                memory: memory, threads: workers)
            if !ValueFile.exists(step.survivors) { try runner.run([step]) }
            (outcome.outputs, outcome.parts) = ([step.output], 1)
        } else {
            let cut = try cut()
            let steps = cut.parts.indices.filter { !cut.isCrowd[$0] }.map { step(of: $0, in: cut) }
            outcome.parts = steps.count
            try shuffle(cut, steps, &outcome.copies)
            try runner.run(steps.filter { !ValueFile.exists($0.survivors) })
            outcome.outputs = steps.map(\.output)
            try decideOpen(steps, &outcome)
        }
        for output in outcome.outputs {
            outcome.survivors += try ValueReader<LevelNode>(output + ".survivors").count
        }
        return outcome
    }

    /// The nodes in crowds.
    private var crowd: String { "\(directory)/crowd.open" }

    private func step(of part: Int, in cut: LevelCut) -> DecideStep {
        let output = "\(directory)/part-\(part)"
        return DecideStep(
            options: optionsFile, zooms: zooms, part: cut.parts[part], inputs: [output + ".nodes"], output: output,
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
    private func shuffle(_ cut: LevelCut, _ steps: [DecideStep], _ copies: inout Int) throws(BuildError) {
        // Others were left by an earlier build that was ended.
        let missing = steps.filter { !ValueFile.exists($0.survivors) }
        var isFirst = true
        let needsCrowd = cut.isCrowd.contains(true) && !ValueFile.exists(crowd)
        for start in stride(from: 0, to: max(1, missing.count), by: Self.mostWriters) {
            let chosen = missing[start..<min(missing.count, start + Self.mostWriters)]
            let crowd = isFirst && needsCrowd ? try ValueWriter<OpenNode>(crowd) : nil
            isFirst = false
            guard !chosen.isEmpty || crowd != nil else { return }
            try shuffle(cut, chosen, crowd, &copies)
        }
    }

    private func shuffle(
        _ cut: LevelCut, _ steps: ArraySlice<DecideStep>, _ crowd: ValueWriter<OpenNode>?, _ copies: inout Int
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
                guard let writer = writers[part] else { return }
                try writer.append(node)
                if part != owner { copies += 1 }
            }
        }
        for writer in writers { try writer?.finish() }
        try crowd?.finish()
    }

    /// Decides what the parts left open.
    private func decideOpen(_ steps: [DecideStep], _ outcome: inout Outcome) throws(BuildError) {
        let open = (steps.map(\.open) + [crowd]).filter { ValueFile.exists($0) }
        guard !open.isEmpty else { return }
        for path in open { outcome.open += try ValueReader<OpenNode>(path).count }
        let stream = LevelStream(
            options: optionsFile, zooms: zooms, open: open, claimed: steps.map(\.claimed).filter(ValueFile.exists),
            taken: steps.map(\.taken).filter(ValueFile.exists), output: "\(directory)/stream", memory: memory)
        if !ValueFile.exists(stream.survivors) { try runner.run([stream]) }
        outcome.rounds = try stream.rounds()
        outcome.outputs.append(stream.output)
    }
}

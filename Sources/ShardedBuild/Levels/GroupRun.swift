// SPDX-License-Identifier: MIT
import Clustering
import JSON
import SystemSupport

/// Makes the clusters of a group of zooms: the level below is cut into parts, each with a margin, and each part is a step.
///
/// Parts in which something depends on nodes beyond the margin are decided again with a wider one, the few that remain in
/// one step that knows the whole level.
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
        var rounds = 0
        /// The number of nodes alive at the lowest zoom.
        var survivors = 0
    }

    /// How often parts are given a wider margin, each time four times as wide.
    private static let mostRounds = 3
    /// With a margin of this part of the unit square, parts would know nearly everything.
    private static let widestMargin = 0.2

    func run() throws(BuildError) -> Outcome {
        try onDisk(try FileIO.makeDirectory(directory))
        var outcome = Outcome()
        let margin = LevelPart.margin(options, zooms: zooms)
        guard nodeCount > most, margin < Self.widestMargin else {
            try runWhole([], "\(directory)/whole", &outcome)
            outcome.parts = 1
            return try counted(outcome)
        }
        let parts = try cut(margin)
        outcome.parts = parts.parts.count
        var open = Array(parts.parts.indices)
        while !open.isEmpty {
            let round = outcome.rounds
            let factor = Double(1 << (2 * round))
            if round == Self.mostRounds || margin * factor >= Self.widestMargin {
                let rest = open.map { parts.parts[$0] }
                for part in open { FileIO.remove("\(output(part)).open") }
                try runWhole(rest, "\(directory)/rest", &outcome)
                break
            }
            let steps = try shuffle(open, of: parts, round: round, margin: margin * factor, &outcome.copies)
            try runner.run(steps.filter { !ValueFile.exists($0.survivors) })
            var still: [Int] = []
            for (part, step) in zip(open, steps) {
                for input in step.inputs { FileIO.remove(input) }
                if ValueFile.exists(step.survivors) { outcome.outputs.append(step.output) } else { still.append(part) }
            }
            open = still
            if !open.isEmpty { outcome.rounds += 1 }
        }
        return try counted(outcome)
    }

    private func output(_ part: Int) -> String { "\(directory)/part-\(part)" }

    private func counted(_ outcome: Outcome) throws(BuildError) -> Outcome {
        var outcome = outcome
        for output in outcome.outputs {
            outcome.survivors += try ValueReader<LevelNode>(output + ".survivors").count
        }
        return outcome
    }

    /// Decides parts, or everything, with all nodes of the level.
    private func runWhole(_ parts: [LevelPart], _ output: String, _ outcome: inout Outcome) throws(BuildError) {
        let step = DecideStep(
            options: optionsFile, zooms: zooms, parts: parts, isWhole: true, inputs: level, output: output,
            memory: memory, threads: workers)
        if !ValueFile.exists(step.survivors) { try runner.run([step]) }
        outcome.outputs.append(output)
    }

    private func cut(_ margin: Double) throws(BuildError) -> LevelCut {
        var histogram = LevelCut.Histogram()
        for path in level {
            let reader = try ValueReader<LevelNode>(path)
            while let node = try reader.read() { histogram.add(x: node.x, y: node.y) }
        }
        // Half of a margin is four radii.
        return LevelCut(histogram, most: most, leastSide: margin / 2, margin: margin)
    }

    /// Writes the nodes that some parts have to know, each part's in order.
    private func shuffle(
        _ chosen: [Int], of cut: LevelCut, round: Int, margin: Double, _ copies: inout Int
    ) throws(BuildError) -> [DecideStep] {
        var steps: [DecideStep] = []
        var writers: [Int: ValueWriter<LevelNode>] = [:]
        let buffer = max(1 << 12, min(1 << 17, memory / 4 / max(1, chosen.count)))
        for part in chosen {
            let input = "\(output(part)).nodes-\(round)"
            var known = cut.parts[part]
            known.margin = margin
            let step = DecideStep(
                options: optionsFile, zooms: zooms, parts: [known], isWhole: false, inputs: [input],
                output: output(part), memory: memory, threads: 1)
            steps.append(step)
            // Left by an earlier build that was ended.
            if !ValueFile.exists(step.survivors) { writers[part] = try ValueWriter(input, bufferBytes: buffer) }
        }
        guard !writers.isEmpty else { return steps }
        var merge = try SortedMerge<LevelNode>(level, memory: memory / 4) { $0.order < $1.order }
        while let node = try merge.next() {
            try cut.forEachPart(x: node.x, y: node.y, margin: margin) { (part) throws(BuildError) in
                guard let writer = writers[part] else { return }
                try writer.append(node)
                if !cut.parts[part].owns(x: node.x, y: node.y) { copies += 1 }
            }
        }
        for (_, writer) in writers { try writer.finish() }
        return steps
    }
}

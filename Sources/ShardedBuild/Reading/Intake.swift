// SPDX-License-Identifier: MIT
import JSON
import SourceEngine
import Synchronization
import SystemSupport

/// Reads the inputs by steps, and joins what they have made as if one had read everything: the steps' rows, places in texts
/// and partitions begin where those of the steps before end.
struct Intake {
    let settings: BuildSettings
    let options: SourceOptions
    let files: BuildFiles
    let runner: any StepRunner
    let progress: (BuildProgress) -> Void

    /// What a step has made, and where it lies among all.
    struct Part: Sendable {
        let files: IntakeFiles
        let summary: IntakeSummary
        var firstRow = 0
        var firstString = 0
        /// By the step's number of a value of `partitionBy`: its number among all.
        var partitions: [UInt32] = []
    }

    /// - Returns: what was found, the values of `partitionBy` in the order of the points, and what each step has made.
    func run() throws(BuildError) -> (summary: IntakeSummary, partitions: [JSONValue], parts: [Part]) {
        let steps = try steps()
        progress(BuildProgress(stage: .reading, detail: String(steps.count)))
        try runner.run(steps.filter { !FileIO.exists($0.output.summary) })
        let (parts, summary) = try located(steps)
        progress(BuildProgress(stage: .ordering, detail: String(summary.points)))
        return (summary, try join(parts, summary), parts)
    }

    private func steps() throws(BuildError) -> [IntakeStep] {
        let rules = IntakeStep.Rules(
            policy: settings.policy, format: settings.format, wrapsLongitudes: settings.wrapsLongitudes)
        let plan = try IntakePlan(settings.inputs, settings.format, least: settings.leastBytesOfStep).steps()
        return plan.enumerated().map { number, pieces in
            IntakeStep(
                options: files.options, rules: rules, pieces: pieces, output: files.read(number),
                memory: settings.memory, threads: plan.count == 1 ? settings.workers : 1)
        }
    }

    private func located(_ steps: [IntakeStep]) throws(BuildError) -> ([Part], IntakeSummary) {
        var (parts, total): ([Part], IntakeSummary) = ([], IntakeSummary())
        var partitions: [JSONValue: UInt32] = [:]
        for step in steps {
            guard let summary = try BuildFiles.value(step.output.summary).flatMap({ IntakeSummary($0) }) else {
                throw BuildError("\(step.output.summary) is missing or of another build; build again without --resume")
            }
            var part = Part(
                files: step.output, summary: summary, firstRow: total.points, firstString: total.stringBytes)
            part.partitions = summary.partitions.map { value in
                if let known = partitions[value] { return known }
                let number = UInt32(truncatingIfNeeded: partitions.count)
                partitions[value] = number
                total.partitions.append(value)
                return number
            }
            total.add(summary)
            try IntakeSummary.checkCount(total.points)
            parts.append(part)
        }
        return (parts, total)
    }

    /// Joins what the steps have made, but for the features' text. Joining the hashes takes hardly any processor beside the order.
    private func join(_ parts: [Part], _ summary: IntakeSummary) throws(BuildError) -> [JSONValue] {
        let (files, memory, deepest) = (files, settings.memory / 2, options.clustering.maximumZoom)
        let results = Parallel(.own, threads: settings.workers).map(below: 2) {
            task -> Result<[JSONValue], BuildError> in
            do throws(BuildError) {
                switch task {
                case 0:
                    return .success(
                        try Ordering.run(files, parts, memory: memory, deepest: deepest, partitions: summary.partitions)
                    )
                default: try IntakeJoining.joinCodes(parts, files, memory: memory)
                }
                return .success([])
            } catch { return .failure(error) }
        }
        for result in results { if case .failure(let error) = result { throw error } }
        return try results[0].get()
    }
}

// SPDX-License-Identifier: MIT
import JSON
import ShardedBuild
import SystemSupport
import Synchronization

/// Runs a build's steps in processes of their own, some at a time: each has the memory that the build was given.
struct ChildSteps: StepRunner {
    let program: String
    /// The subcommand that runs a step.
    let command: String
    let workers: Int

    /// - Parameter workers: how many processes run at the same time.
    init(_ command: String, workers: Int) throws(Failure) {
        guard let program = Installation.program else {
            throw Failure(message: "the program's own file cannot be found, which runs the steps of a build")
        }
        (self.program, self.command, self.workers) = (program, command, workers)
    }

    func run(_ steps: [DecideStep]) throws(BuildError) {
        let failure = Mutex<BuildError?>(nil)
        Parallel(.own, threads: min(workers, steps.count)).forEach(below: steps.count) { index in
            guard failure.withLock({ $0 == nil }) else { return }
            if let error = error(of: steps[index]) { failure.withLock { $0 = $0 ?? error } }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    /// Runs a step; nil if it succeeds.
    private func error(of step: DecideStep) -> BuildError? {
        guard let process = ChildProcess(program, [command, step.json.text]) else {
            return BuildError("\(program) cannot be started")
        }
        let status = process.wait()
        guard status != 0 else { return nil }
        let said = process.lastErrors()
        return BuildError(
            "a step of zooms \(step.zooms.lowerBound) to \(step.zooms.upperBound) failed: "
                + (said.isEmpty ? "it ended with status \(status)" : said))
    }
}

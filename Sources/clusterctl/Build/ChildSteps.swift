// SPDX-License-Identifier: MIT
import JSON
import ShardedBuild
import Synchronization
import SystemSupport

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

    func run(_ steps: [any BuildStep]) throws(BuildError) {
        let failure = Mutex<BuildError?>(nil)
        Parallel(.own, threads: min(workers, steps.count)).forEach(below: steps.count) { index in
            guard failure.withLock({ $0 == nil }) else { return }
            if let error = error(of: steps[index]) { failure.withLock { $0 = $0 ?? error } }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    /// Runs a step; nil if it succeeds.
    private func error(of step: any BuildStep) -> BuildError? {
        // A step that reads many files is longer than an argument may be.
        guard let process = ChildProcess(program, [command, "@-"], input: Array(step.json.text.utf8)) else {
            return BuildError("\(program) cannot be started")
        }
        let status = process.wait()
        return status == 0 ? nil : StepFailure.error(step.title, status, said: process.lastErrors())
    }
}

/// What a process that runs a step says if it fails.
enum StepFailure {
    /// - Parameters:
    ///   - status: the process's exit status, or 128 and a signal's number.
    ///   - said: what it wrote to standard error.
    static func error(_ title: String, _ status: Int32, said: String) -> BuildError {
        let own = "clusterctl: "
        let text = said.hasPrefix(own) ? String(said.dropFirst(own.count)) : said
        if status == ExitStatus.refused { return BuildError(text, isRefusal: true) }
        return BuildError("\(title) failed: " + (text.isEmpty ? "it ended with status \(status)" : text))
    }
}

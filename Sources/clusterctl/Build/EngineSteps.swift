// SPDX-License-Identifier: MIT
import Dispatch
import Glibc
import JSON
import ShardedBuild
import Synchronization
import SystemSupport

/// Hands a build's steps to the program that started this one, which runs them wherever it likes: with `build-step`.
///
/// Each list is a line `{"title": TEXT, "steps": [STEP…]}` on standard output. The answer is a line on standard input once
/// all have ended: `{}`, or `{"error": TEXT}`, or for a step that ended with an error `{"status": N, "error": TEXT}`. The
/// last line is `{"summary": …}`. If standard input ends, so does the build.
final class EngineSteps: StepRunner {
    private let answers = Answers()

    init() {
        let answers = answers
        BackgroundThread.run {
            var (line, buffer): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 4096))
            while true {
                let count = read(STDIN_FILENO, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                for byte in buffer[..<count] {
                    if byte == UInt8(ascii: "\n") {
                        answers.add(line)
                        line = []
                    } else if line.count < 1 << 20 {
                        line.append(byte)
                    }
                }
            }
            Terminal.writeError("clusterctl: the program that runs this build's steps has ended\n")
            // Like a build that somebody ends: its files stay for --resume.
            kill(getpid(), SIGTERM)
        }
    }

    func run(_ steps: [any BuildStep]) throws(BuildError) {
        guard let first = steps.first else { return }
        let list = JSONValue.object(["title": .string(first.title), "steps": .array(steps.map(\.json))])
        try Self.write(list)
        guard case .object(let answer)? = try? JSONReader.parse(answers.next()) else {
            throw BuildError("the program that runs this build's steps has given no answer in JSON")
        }
        guard case .string(let said)? = answer["error"] else { return }
        if case .number(let status)? = answer["status"], let status = Int32(exactly: status) {
            throw StepFailure.error(first.title, status, said: said)
        }
        throw BuildError("\(first.title) failed: \(said)")
    }

    /// Writes a line to the engine.
    static func write(_ value: JSONValue) throws(BuildError) {
        let bytes = Array(value.text.utf8) + [UInt8(ascii: "\n")]
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw BuildError("the program that runs this build's steps has ended") }
            done += count
        }
    }

    /// Lines that have come and were not taken.
    private final class Answers: Sendable {
        private let lines = Mutex<[[UInt8]]>([])
        private let arrived = DispatchSemaphore(value: 0)

        func add(_ line: [UInt8]) {
            lines.withLock { $0.append(line) }
            arrived.signal()
        }

        /// Waits for a line.
        func next() -> [UInt8] {
            arrived.wait()
            return lines.withLock { $0.removeFirst() }
        }
    }
}

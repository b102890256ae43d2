// SPDX-License-Identifier: MIT
import ClusterProtocol
import GeoJSON
import JSON
import SourceEngine

/// A log that a client applies to a source: items gather while earlier ones are applied, and are then applied together.
/// Belongs to the loop's thread.
final class ChangeStream: ServerStream {
    private let source: Source
    private let policy: InvalidFeaturePolicy
    private let call: CallContext
    private let output: StreamOutput
    private let claim: FeedClaim
    private var observation: SourceObservation?
    private var waiting: [ChangeItem] = []
    private(set) var waitingBytes = 0
    /// Bytes of the items that are being applied.
    private var workBytes = 0
    /// How many items were taken from `waiting`.
    private var takenCount = 0
    private var phase = Phase.new
    /// The answers that the client has not been sent: at the beginning also the first one, which stands alone.
    private var first: ChangeAnswer?
    private var answer: ChangeAnswer?
    private var changed = 0
    /// Why the stream ends once its answers are sent.
    private var failure: RPCError?
    private var hasEnded = false

    private enum Phase {
        case new
        case working
        case idle
    }

    /// The most bytes of items that are applied together, unless one is larger. So their record is never as long as one
    /// that a snapshot replaces.
    private static let mostTogether = 8 << 20

    var heldBytes: Int { waitingBytes + workBytes }

    init(
        _ source: Source, log: String, _ policy: InvalidFeaturePolicy, _ call: CallContext, _ output: StreamOutput
    ) {
        (self.source, self.policy, self.call, self.output) = (source, policy, call, output)
        claim = FeedClaim(log: log) { output.wantToSend() }
        observation = source.observe { [weak source] in
            if source?.isRetired == true { output.wantToSend() }
        }
        output.wantToSend()
    }

    func receive(_ item: [UInt8]) {
        if waiting.isEmpty, case .idle = phase { claim.waitingSince = .now }
        waiting.append(ChangeItem(text: item, received: .now))
        waitingBytes += item.count
        output.hold(input: item.count)
        work()
    }

    func clientEnded() {
        hasEnded = true
        output.wantToSend()
    }

    func ended() {
        (waiting, waitingBytes, workBytes) = ([], 0, 0)
        (observation, first, answer) = (nil, nil, nil)
        source.release(claim)
    }

    func next(into bytes: inout ByteWriter) throws(RPCError) -> StreamStep {
        if source.isRetired { throw RPCError(.sourceNotFound(source.name)) }
        if claim.isLost { throw takenOver }
        if case .new = phase { begin() }
        if let answer = first ?? answer {
            answer.write(into: &bytes)
            if first != nil { first = nil } else { self.answer = nil }
            output.wantToSend()
            return .item(revision: answer.revision)
        }
        if let failure { throw failure }
        guard hasEnded, waiting.isEmpty, case .idle = phase else { return .nothing }
        bytes.append("{}")
        return .end
    }

    private var takenOver: RPCError {
        RPCError(.aborted, "Another stream applies the log \"\(claim.log)\" to the source '\(source.name)' now.")
    }

    // MARK: Work on the pool

    private typealias Outcome = Result<ChangeAnswer, RPCError>

    /// Takes the log from any other stream.
    private func begin() {
        phase = .working
        let (source, claim, call, outcome) = (source, claim, call, PoolOutcome<Outcome>())
        run {
            outcome.set(
                Result { () throws(RPCError) in
                    let found = try answering(call) { () throws(SourceError) in
                        try source.follow(by: claim, call.cancellation)
                    }
                    // The call may have ended before.
                    if call.isCancelled { source.release(claim) }
                    return ChangeAnswer(position: found.position, revision: found.revision, counts: nil)
                })
        } completion: { stream in
            switch outcome.take() {
            case .success(let answer)?: stream.first = answer
            case .failure(let error)?: stream.failure = error
            case nil: break
            }
        }
    }

    /// Applies the items that wait, or as many as are applied together.
    private func work() {
        guard case .idle = phase, failure == nil, !waiting.isEmpty else { return }
        phase = .working
        var (count, size) = (0, 0)
        while count < waiting.count, count == 0 || size + waiting[count].text.count <= Self.mostTogether {
            size += waiting[count].text.count
            count += 1
        }
        let job = ChangeJob(
            Array(waiting.prefix(count)), from: takenCount, source, claim, policy, call)
        waiting.removeFirst(count)
        takenCount += count
        waitingBytes -= size
        workBytes = size
        claim.waitingSince = job.items.first?.received
        let outcome = PoolOutcome<ChangeJob.Outcome>()
        run {
            outcome.set(job.run())
        } completion: { stream in
            guard let outcome = outcome.take() else { return }
            if let answer = outcome.answer {
                stream.answer = answer.following(stream.answer)
                stream.changed += answer.counts?.changes ?? 0
                stream.call.noteChanged(stream.changed)
            }
            stream.failure = outcome.failure
        }
    }

    /// Runs a job that no other change of the source may run beside.
    private func run(_ body: @escaping @Sendable () -> Void, completion: @escaping (ChangeStream) -> Void) {
        output.runOnPool(on: .data(source.name), repeatable: false) { _ in
            body()
        } completion: { [weak self] in
            guard let self else { return }
            completion(self)
            let size = workBytes
            workBytes = 0
            phase = .idle
            claim.waitingSince = waiting.first?.received
            work()
            if size > 0 { output.hold(input: -size) }
            output.wantToSend()
        }
    }
}

/// Items that are applied together, on the pool.
private struct ChangeJob: Sendable {
    let items: [ChangeItem]
    /// The index of the first item in its stream.
    private let start: Int
    private let source: Source
    private let claim: FeedClaim
    private let policy: InvalidFeaturePolicy
    private let call: CallContext

    struct Outcome: Sendable {
        var answer: ChangeAnswer?
        var failure: RPCError?
    }

    init(
        _ items: [ChangeItem], from start: Int, _ source: Source, _ claim: FeedClaim, _ policy: InvalidFeaturePolicy,
        _ call: CallContext
    ) {
        (self.items, self.start, self.source, self.claim) = (items, start, source, claim)
        (self.policy, self.call) = (policy, call)
    }

    func run() -> Outcome {
        var outcome = Outcome()
        var read: [LogItem] = []
        do throws(RPCError) {
            for (index, item) in items.enumerated() { read.append(try item.read(path(index))) }
        } catch { outcome.failure = error }
        guard !read.isEmpty else { return outcome }
        do throws(SourceError) {
            let applied = try source.apply(read, of: claim, policy, call.cancellation)
            if let position = applied.position {
                outcome.answer = ChangeAnswer(
                    position: position, revision: applied.revision, counts: applied.counts)
            }
            if let rejected = applied.rejected { outcome.failure = error(rejected) }
        } catch { outcome.failure = RPCError(error, call) }
        return outcome
    }

    private func path(_ index: Int) -> String { "item[\(start + index)]" }

    private func error(_ rejected: RejectedItem) -> RPCError {
        let path = path(rejected.index)
        switch rejected.error {
        case .invalidParameter(let member, let message): return .invalidParam("\(path).\(member)", message + ".")
        case .unreadableInput(let message): return .invalidParam("\(path).upsert", message)
        default: return RPCError(rejected.error, call).ofFeature(in: "\(path).upsert")
        }
    }
}

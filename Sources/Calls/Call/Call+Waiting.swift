// SPDX-License-Identifier: MIT
import ClusterProtocol
import Sources

/// The state of a call that waits for a position. Used only on the loop's thread.
final class CallDelay {
    fileprivate let prepared: PreparedCall
    fileprivate let wait: PositionWait
    fileprivate var observation: SourceObservation?
    /// The last item that the client has sent meanwhile. A new viewport supersedes earlier ones.
    fileprivate var item: [UInt8]?
    fileprivate var hasEnded = false

    init(_ prepared: PreparedCall, _ wait: PositionWait) { (self.prepared, self.wait) = (prepared, wait) }

    func receive(_ item: [UInt8]) { self.item = item }

    func endInput() { hasEnded = true }

    /// Nobody waits any more.
    func end() { observation = nil }
}

/// Calls that are answered once their source has a position.
extension Call {
    /// Begins to wait. The deadline still applies.
    func begin(_ delay: CallDelay) {
        guard let post = caller?.engine.loop.post else { return }
        let (waiting, news) = (OnLoop(self), Signal())
        delay.observation = delay.wait.source.observePosition { [wait = delay.wait] in
            guard wait.isOver, news.raise() else { return }
            post { waiting.value.goOn() }
        }
        // The position may have been reached while the observation was made.
        if delay.wait.isOver, news.raise() { post { waiting.value.goOn() } }
    }

    /// The position has been reached, so the call begins as if it had just arrived.
    private func goOn() {
        guard let caller, case .waiting(let delay) = work else { return }
        delay.end()
        do throws(RPCError) {
            switch delay.prepared.method.implementation {
            case .unary(let unary):
                let answer = try unary.prepare(delay.prepared.params, context)
                work = .unary
                runOnPool(answer)
            case .serverStream(let method):
                let output = StreamOutput(caller.engine)
                let stream = try method.begin(delay.prepared.params, context, output)
                work = .serverStream(stream, output)
                output.open(self)
                if let item = delay.item { try stream.receive(item) }
                if delay.hasEnded { try stream.clientEnded() }
            case .clientStream: break
            }
        } catch { fail(error) }
    }
}

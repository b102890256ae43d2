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

    func endInput() { hasEnded = true }

    /// Nobody waits any more.
    func end() { observation = nil }
}

/// Calls that are answered once their source has a position.
extension Call {
    /// Keeps an item until the call begins, counted like the call's params.
    func keep(_ item: [UInt8], in delay: CallDelay) throws(RPCError) {
        guard let caller else { return }
        _ = takeItem(of: delay, caller)
        delay.item = item
        caller.engine.load.input.add(item.count, of: caller.share)
        try caller.checkHeld(item.count)
    }

    /// Takes the item that a waiting call keeps.
    func takeItem(of delay: CallDelay, _ caller: Caller) -> [UInt8]? {
        guard let item = delay.item else { return nil }
        delay.item = nil
        caller.engine.load.input.add(-item.count, of: caller.share)
        return item
    }

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
        let item = takeItem(of: delay, caller)
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
                if let item { try stream.receive(item) }
                if delay.hasEnded { try stream.clientEnded() }
            case .clientStream: break
            }
        } catch { fail(error) }
    }
}

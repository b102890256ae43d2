// SPDX-License-Identifier: MIT
import Calls
import ClusterProtocol
import EventLoop
import JSON

/// A server stream's way back, which other threads may knock on.
final class StreamOutput: ServerStreamOutput {
    private let remote: EventLoop.Remote
    private let side: LoopBound<Side>

    init(_ connection: ServerConnection, _ id: Int64, _ context: CallContext) {
        remote = connection.server.loop.remote
        side = LoopBound(Side(connection, id, context))
    }

    func wantToSend() {
        remote.post { [side] in side.value.wantToSend() }
    }

    func wantToSend(after delay: UInt64) { side.value.wantToSend(after: delay) }

    func runOnPool(
        _ body: @escaping @Sendable (_ mostBytes: Int) -> Void, completion: @escaping () -> Void
    ) {
        side.value.connection?.runOnPool(body, completion: completion)
    }

    /// Whether the item before is still being made ready. On the loop's thread.
    var isBusy: Bool {
        get { side.value.isBusy }
        set { side.value.isBusy = newValue }
    }

    /// The call is over. On the loop's thread.
    func close() { side.value.close() }

    /// What belongs to the loop's thread.
    final class Side {
        fileprivate weak var connection: ServerConnection?
        private let id: Int64
        private let context: CallContext
        private var timer: Timer?
        private var isWaiting = false
        fileprivate var isBusy = false

        fileprivate init(_ connection: ServerConnection, _ id: Int64, _ context: CallContext) {
            self.connection = connection
            self.id = id
            self.context = context
        }

        fileprivate func wantToSend() {
            guard !isWaiting, let turns = connection?.server.streamTurns else { return }
            isWaiting = true
            turns.append(self)
        }

        fileprivate func wantToSend(after delay: UInt64) {
            guard let loop = connection?.server.loop else { return }
            timer = Timer(on: loop, delay: delay / 1_000_000 + 1) { [weak self] in self?.wantToSend() }
        }

        fileprivate func close() {
            timer = nil
            connection = nil
        }

        fileprivate func send() {
            isWaiting = false
            connection?.pump(id, context)
        }
    }
}

/// Lets streams that want to send take turns with all else that the loop has to do: a thousand that want to
/// at once must not hold up the queries. Belongs to the loop's thread.
final class StreamTurns {
    private var waiting: [StreamOutput.Side] = []
    private var place = 0
    private var isScheduled = false
    private let remote: EventLoop.Remote

    /// How many send before the others have their turn.
    private static let perTurn = 8

    init(_ remote: EventLoop.Remote) { self.remote = remote }

    fileprivate func append(_ side: StreamOutput.Side) {
        waiting.append(side)
        schedule()
    }

    private func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        let bound = LoopBound(self)
        remote.post {
            bound.value.isScheduled = false
            bound.value.run()
        }
    }

    private func run() {
        let end = min(place + Self.perTurn, waiting.count)
        while place < end {
            let side = waiting[place]
            place += 1
            side.send()
        }
        if place < waiting.count { return schedule() }
        waiting.removeAll(keepingCapacity: place <= 4096)
        place = 0
    }
}

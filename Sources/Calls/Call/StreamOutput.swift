// SPDX-License-Identifier: MIT

/// A server stream's link to its call. Other threads use it to request the next item.
final class StreamOutput: ServerStreamOutput {
    private let post: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let side: OnLoop<Side>

    init(_ engine: CallEngine) {
        post = engine.loop.post
        side = OnLoop(Side())
    }

    /// State used only on the loop's thread.
    private final class Side {
        weak var call: Call?
        var timer: AnyObject?
        /// Counts the item that waits for the client.
        var held: UnreadBudget.Claim?
        var isWaiting = false
        var isBusy = false

        func wantToSend() {
            guard !isWaiting, let turns = call?.caller?.engine.streamTurns else { return }
            isWaiting = true
            turns.append { [self] in
                isWaiting = false
                call?.sendNext()
            }
        }
    }

    /// The call has begun. Only on the loop's thread.
    func open(_ call: Call) { side.value.call = call }

    func wantToSend() { post { [side] in side.value.wantToSend() } }

    func wantToSend(after delay: UInt64) {
        let side = side.value
        side.timer = side.call?.caller?.engine.loop.timer(after: delay / 1_000_000 + 1, every: 0) {
            [weak side] in side?.wantToSend()
        }
    }

    func hold(bytes: Int) {
        guard let caller = side.value.call?.caller else { return }
        side.value.held = UnreadBudget.Claim(bytes, of: caller.unread, in: caller.engine.load.unread)
    }

    /// Counts no waiting item any more; returns whether one was counted. Only on the loop's thread.
    func release() -> Bool {
        defer { side.value.held = nil }
        return side.value.held != nil
    }

    func runOnPool(
        _ body: @escaping @Sendable (_ mostBytes: Int) -> Void, completion: @escaping () -> Void
    ) {
        side.value.call?.runOnPool(body, completion: completion)
    }

    /// Whether the previous item is still being prepared. Only on the loop's thread.
    var isBusy: Bool {
        get { side.value.isBusy }
        set { side.value.isBusy = newValue }
    }

    /// The call is over. Only on the loop's thread.
    func close() {
        side.value.timer = nil
        side.value.held = nil
        side.value.call = nil
    }
}

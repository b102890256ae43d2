// SPDX-License-Identifier: MIT
import JSON

/// The state that a session's reader and its iterator share.
final class ViewportState: Sendable {
    private struct State {
        var queue = MarkerQueue()
        var pace: FlushPace
        /// Whether a change has arrived that has not been delivered, even an empty one.
        var hasNews = false
        var outcome: Result<Void, any Error>?
    }

    private let state: Monitor<State>

    init(_ pace: FlushPace) { state = Monitor(State(pace: pace)) }

    var delivered: [String: Marker] { state.withLock { $0.queue.delivered } }

    /// The app's viewport has moved: markers nearest to its middle are delivered first.
    func move(to box: BoundingBox) { state.withLock { $0.queue.move(to: box) } }

    // MARK: The reader's side

    func apply(_ item: Answer) throws {
        let change = try item.value()
        try state.change { state in
            try state.queue.apply(change)
            state.hasNews = true
        }
    }

    func finish(_ error: (any Error)?) {
        state.change { state in state.outcome = error.map { .failure($0) } ?? .success(()) }
    }

    // MARK: The iterator's side

    /// Records how long the app took for a batch; returns the interval to the next batch.
    func took(_ duration: Duration, for markers: Int) -> Duration {
        state.withLock { state in
            state.pace.took(duration, for: markers)
            return state.pace.frame
        }
    }

    func next() async throws -> ViewportUpdate? {
        try await state.wait { try Self.take(&$0) }.update
    }

    /// An update, or `(nil, ())` at the end; nil if there is neither yet.
    private static func take(_ state: inout State) throws -> (update: ViewportUpdate?, Void)? {
        guard state.hasNews || !state.queue.isEmpty else {
            guard let outcome = state.outcome else { return nil }
            try outcome.get()
            return (nil, ())
        }
        state.hasNews = false
        var update = ViewportUpdate()
        for step in state.queue.take(state.pace.batch) {
            switch step {
            case .remove(let key, let into):
                update.removed.append(key)
                update.absorbers[key] = into
            case .add(let marker): update.added.append(marker)
            case .replace(let marker): update.replaced.append(marker)
            }
        }
        update.isComplete = state.queue.isEmpty
        update.revision = state.queue.revision
        return (update, ())
    }
}

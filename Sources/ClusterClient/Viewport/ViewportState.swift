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

/// Limits how many markers an app receives at once, so that its map stays fluid: as many as it can apply
/// within part of a frame.
///
/// The time per marker is estimated from earlier batches with a low-pass filter: a single batch that is slow
/// by chance changes little, while a lasting change takes full effect.
public struct FlushPace: Sendable {
    /// The interval between batches.
    public var frame: Duration
    /// The part of a frame, above 0 and up to 1, that the app may spend on markers.
    public var share: Double
    /// The weight of the newest batch against all earlier ones, above 0 and up to 1.
    public var smoothing: Double
    /// The minimum and maximum number of markers in a batch.
    public var batches: ClosedRange<Int>
    /// The time that the app takes for a marker, in seconds.
    private(set) var secondsPerMarker: Double

    /// - Parameter markerDuration: the assumed time per marker until the first batch has been measured.
    public init(
        frame: Duration = .milliseconds(16), share: Double = 0.5, smoothing: Double = 0.2,
        batches: ClosedRange<Int> = 1...1000, markerDuration: Duration = .microseconds(200)
    ) {
        self.frame = frame
        self.share = share
        self.smoothing = smoothing
        self.batches = batches
        secondsPerMarker = markerDuration / .seconds(1)
    }

    /// The maximum number of markers in the next batch.
    public var batch: Int {
        let budget = (frame / .seconds(1)) * share
        guard secondsPerMarker > 0, budget > 0 else { return batches.upperBound }
        let count = budget / secondsPerMarker
        return count >= Double(batches.upperBound) ? batches.upperBound : max(batches.lowerBound, Int(count))
    }

    /// Records that the app has applied a batch.
    public mutating func took(_ duration: Duration, for markers: Int) {
        guard markers > 0 else { return }
        // An app that was suspended for an hour is not slow.
        let seconds = min(max(0, duration / .seconds(1)), Self.longest) / Double(markers)
        secondsPerMarker += smoothing * (seconds - secondsPerMarker)
    }

    private static let longest = 1.0
}

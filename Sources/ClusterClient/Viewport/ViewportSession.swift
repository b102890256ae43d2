// SPDX-License-Identifier: MIT
import JSON

/// A watched part of a map: its markers are kept up to date with the source's data and the map's position.
///
///     let session = try client.viewport(of: "cities", in: box, zoom: 7)
///     for try await update in session {
///     for key in update.removed { map.remove(key) }
///     for marker in update.added + update.replaced { map.show(marker) }
///     }
///
/// Markers nearest to the middle of the viewport come first. Each update has as many markers as the app can
/// apply within part of a frame; markers that appear and disappear while the app is busy are never delivered.
/// Any task may move the viewport; one task at a time may iterate. Releasing the session ends the watching.
public final class ViewportSession: AsyncSequence, Sendable {
    public typealias Element = ViewportUpdate

    private let call: BothWaysCall
    private let state: ViewportState
    private let reader: Task<Void, Never>

    init(_ call: BothWaysCall, box: BoundingBox, pace: FlushPace) {
        let state = ViewportState(pace)
        state.move(to: box)
        self.call = call
        self.state = state
        reader = Task {
            do {
                for try await item in call { try state.apply(item) }
                state.finish(nil)
            } catch {
                call.cancel()
                state.finish(error)
            }
        }
    }

    deinit {
        reader.cancel()
        call.cancel()
    }

    /// Moves the viewport. Its new markers arrive as updates.
    ///
    /// - Parameter extra: `window` and `pin`, which replace those that the viewport has; null removes them. Left out
    ///   they stay.
    public func move(to box: BoundingBox, zoom: Double, extra: JSONObject = [:]) async throws {
        state.move(to: box)
        let item: JSONObject = ["bbox": box.json, "zoom": .number(zoom)]
        try await call.send(item.with(extra))
    }

    /// Ends the watching; iteration ends after the updates that are waiting.
    public func end() { call.endSending() }

    /// The markers that have been delivered to the app, by key.
    public var markers: [String: Marker] { state.delivered }

    public func makeAsyncIterator() -> Iterator { Iterator(session: self, state: state) }

    public struct Iterator: AsyncIteratorProtocol {
        // Retained, so that the watching does not end during iteration.
        fileprivate let session: ViewportSession
        fileprivate let state: ViewportState
        private let clock = ContinuousClock()
        private var handed: (count: Int, at: ContinuousClock.Instant)?

        fileprivate init(session: ViewportSession, state: ViewportState) {
            self.session = session
            self.state = state
        }

        /// The next update; nil if the watching has ended. If it has failed, throws the error after the
        /// updates that arrived before.
        public mutating func next() async throws -> ViewportUpdate? {
            if let handed {
                let now = clock.now
                let frame = state.took(now - handed.at, for: handed.count)
                if handed.at + frame > now { try await clock.sleep(until: handed.at + frame) }
            }
            handed = nil
            guard let update = try await state.next() else { return nil }
            handed = (update.count, clock.now)
            return update
        }
    }
}

extension Client {
    /// Watches a part of a map.
    ///
    /// - Parameters:
    ///   - maxRateHz: the maximum number of changes per second that the server sends; nil: the server's default.
    ///   - transitions: whether markers are identified by the feature from which they grew, so that they keep
    ///     their keys while the map zooms, and updates report where markers come from and go.
    ///   - pace: how to divide updates into batches.
    ///   - extra: further params of `GetClusters`, by name.
    public func viewport(
        of source: String, in box: BoundingBox, zoom: Double, maxRateHz: Double? = nil,
        transitions: Bool = false, pace: FlushPace = FlushPace(), extra: JSONObject = [:],
        options: CallOptions = .init()
    ) throws -> ViewportSession {
        var params: JSONObject = ["source": .string(source), "bbox": box.json, "zoom": .number(zoom)]
        params["maxRateHz"] = maxRateHz.map { .number($0) }
        if transitions { params["transitions"] = .bool(true) }
        let call = try openBothWays("ClusterService/WatchClusters", CallParams(params.with(extra)), options: options)
        return ViewportSession(call, box: box, pace: pace)
    }
}

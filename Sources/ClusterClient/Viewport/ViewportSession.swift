// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// A part of a map that is watched: its markers, kept up with the source's data and with where the map is.
///
///     let session = try client.viewport(of: "cities", in: box, zoom: 7)
///     for try await update in session {
///         for key in update.removed { map.remove(key) }
///         for marker in update.added + update.replaced { map.show(marker) }
///     }
///
/// Markers nearest to the middle of the viewport come first. Each update has so many markers as the app takes on within part of a frame; what comes and goes while the
/// app is busy is never delivered. Moving is for any task, iterating for one at a time. Let go of, the watching
/// ends.
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

    /// Moves the viewport. What is to be seen there comes as updates.
    public func move(to box: BoundingBox, zoom: Double) async throws {
        state.move(to: box)
        try await call.send(["bbox": box.json, "zoom": .number(zoom)])
    }

    /// Ends the watching; the updates end after those that wait.
    public func end() { call.endSending() }

    /// The markers that have been delivered to the app, by key.
    public var markers: [String: Marker] { state.delivered }

    public func makeAsyncIterator() -> Iterator { Iterator(session: self, state: state) }

    public struct Iterator: AsyncIteratorProtocol {
        // Kept, so that the watching does not end while it is iterated over.
        fileprivate let session: ViewportSession
        fileprivate let state: ViewportState
        private let clock = ContinuousClock()
        private var handed: (count: Int, at: ContinuousClock.Instant)?

        fileprivate init(session: ViewportSession, state: ViewportState) {
            self.session = session
            self.state = state
        }

        /// The next update; nil if the watching has ended. Throws what it has failed with, after the
        /// updates that came before.
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

/// Some of what has changed in a viewport.
public struct ViewportUpdate: Sendable, Equatable {
    /// Keys of markers to take away.
    public var removed: [String] = []
    /// With transitions, by key of a removed marker: the key of the marker that has absorbed it, if the viewport has that one.
    public var absorbers: [String: String] = [:]
    /// New markers.
    public var added: [Marker] = []
    /// Markers that the app has by their key, of which something else is to be shown now.
    public var replaced: [Marker] = []
    /// Whether the app now has all that is to be seen.
    public var isComplete = false
    /// The number of the newest revision that the server has sent.
    public var revision: Int64 = 0

    /// How many markers it is about.
    public var count: Int { removed.count + added.count + replaced.count }
}

extension Client {
    /// Watches a part of a map.
    ///
    /// - Parameters:
    ///   - maxRateHz: the most changes a second that the server sends; nil: as many as it does by itself.
    ///   - transitions: whether markers are known by the features that they grew from, so that they keep their keys while
    ///     the map zooms, and updates say where markers come from and go.
    ///   - pace: how the updates are handed out.
    ///   - extra: further params of `GetClusters`, by name.
    public func viewport(
        of source: String, in box: BoundingBox, zoom: Double, maxRateHz: Double? = nil,
        transitions: Bool = false, pace: FlushPace = FlushPace(), extra: JSONObject = [:],
        options: CallOptions = .init()
    ) throws -> ViewportSession {
        var params: JSONObject = ["source": .string(source), "bbox": box.json, "zoom": .number(zoom)]
        params["maxRateHz"] = maxRateHz.map { .number($0) }
        if transitions { params["transitions"] = .bool(true) }
        let call = try openBothWays("ClusterService/WatchClusters", params.with(extra), options: options)
        return ViewportSession(call, box: box, pace: pace)
    }
}

// SPDX-License-Identifier: MIT
import ClusterClient

/// The way of markers from where they were to where they are, in a few frames: out of the marker that a new one comes
/// from, and into the one that absorbs an old one. Pure; whoever draws says when the next frame is due.
struct MarkerSlide {
    struct Position: Equatable {
        var longitude, latitude: Double

        init(longitude: Double, latitude: Double) {
            self.longitude = longitude
            self.latitude = latitude
        }

        init(_ feature: Feature) {
            self.init(longitude: feature.longitude, latitude: feature.latitude)
        }
    }

    /// A marker that has gone, and where it goes to.
    struct Leaving {
        let feature: Feature
        let start, end: Position
    }

    static let frames = 6
    /// Between two frames.
    static let milliseconds = 40

    private let starts: [String: Position]
    private let departures: [Leaving]
    private let wraps: Bool
    private var frame = 0

    /// - Parameters:
    ///   - old: what was shown, by key, and where: a marker that is still moving is on its way.
    ///   - new: what is to be shown.
    ///   - absorbers: by the keys of markers that have gone, the keys of those that absorbed them.
    ///   - wraps: whether the way over the antimeridian may be the shorter one.
    /// - Returns: nil if nothing moves.
    init?(
        from old: [String: (feature: Feature, position: Position)], to new: [Marker],
        absorbers: [String: String], wraps: Bool
    ) {
        var starts: [String: Position] = [:]
        var ends: [String: Position] = [:]
        for marker in new {
            let end = Position(marker.feature)
            ends[marker.key] = end
            let start = (old[marker.key] ?? marker.from.flatMap { old[$0] })?.position
            if let start, start != end { starts[marker.key] = start }
        }
        departures = old.sorted { $0.key < $1.key }.compactMap { key, shown in
            guard ends[key] == nil, let end = absorbers[key].flatMap({ ends[$0] }) else { return nil }
            return Leaving(feature: shown.feature, start: shown.position, end: end)
        }
        guard !starts.isEmpty || !departures.isEmpty else { return nil }
        self.starts = starts
        self.wraps = wraps
    }

    /// Goes on by one frame; false at the end of the way.
    mutating func advance() -> Bool {
        frame += 1
        return frame < Self.frames
    }

    /// How much of the way is behind the markers: fast first, then slow.
    private var progress: Double {
        let rest = 1 - Double(frame) / Double(Self.frames)
        return 1 - rest * rest
    }

    /// Where a marker is now.
    func position(of key: String, _ feature: Feature) -> Position {
        let end = Position(feature)
        return starts[key].map { between($0, end) } ?? end
    }

    /// Markers that have gone, where they are now.
    var leaving: [(feature: Feature, position: Position)] {
        departures.map { ($0.feature, between($0.start, $0.end)) }
    }

    private func between(_ start: Position, _ end: Position) -> Position {
        var east = end.longitude - start.longitude
        if wraps { east -= (east / 360).rounded() * 360 }
        return Position(
            longitude: start.longitude + progress * east,
            latitude: start.latitude + progress * (end.latitude - start.latitude))
    }
}

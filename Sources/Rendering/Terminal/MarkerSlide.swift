// SPDX-License-Identifier: MIT
import ClusterClient

/// Animates markers from their old to their new positions in a few frames: a new marker comes out of the
/// marker from which its points come, and an old one moves into the marker that absorbs it. Pure; the caller
/// determines when the next frame is due.
struct MarkerSlide {
    struct Position: Equatable {
        var longitude, latitude: Double
    }

    /// A marker that has disappeared, and the position to which it moves.
    struct Leaving {
        let feature: Feature
        let start, end: Position
    }

    static let frames = 6
    /// The time between two frames, in milliseconds.
    static let milliseconds = 40

    private let starts: [String: Position]
    private let departures: [Leaving]
    private let wraps: Bool
    private var frame = 0

    /// - Parameters:
    ///   - old: the markers shown before, by key, with their positions: a marker that is still moving is at
    ///     an intermediate position.
    ///   - new: the markers to show.
    ///   - absorbers: for the key of each marker that has disappeared, the key of the marker that absorbed it.
    ///   - wraps: whether markers may take the shorter way across the antimeridian.
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

    /// Advances by one frame; returns false at the end of the animation.
    mutating func advance() -> Bool {
        frame += 1
        return frame < Self.frames
    }

    /// The fraction of the way that is done: fast first, then slow.
    private var progress: Double {
        let rest = 1 - Double(frame) / Double(Self.frames)
        return 1 - rest * rest
    }

    /// A marker's current position.
    func position(of key: String, _ feature: Feature) -> Position {
        let end = Position(feature)
        return starts[key].map { between($0, end) } ?? end
    }

    /// Markers that have disappeared, with their current positions.
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

extension MarkerSlide.Position {
    init(_ feature: Feature) { self.init(longitude: feature.longitude, latitude: feature.latitude) }
}

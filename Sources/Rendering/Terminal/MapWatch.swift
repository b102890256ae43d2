// SPDX-License-Identifier: MIT
import ClusterClient
import JSON

/// Watches a map's viewport concurrently with the loop that draws it.
final class MapWatch: Sendable {
    private let reader: Task<Void, Never>
    private let mover: Task<Void, Never>
    private typealias Move = (box: BoundingBox, zoom: Double)
    private let moves: AsyncStream<Move>.Continuation

    /// - Parameter report: called with the markers whenever they change, and with the reason when watching fails.
    init(_ session: ViewportSession, _ report: @escaping @Sendable (MapEvent) -> Void) {
        let (positions, moves) = AsyncStream.makeStream(of: Move.self, bufferingPolicy: .bufferingNewest(1))
        self.moves = moves
        // A move that fails also ends the reader, which reports it.
        mover = Task {
            for await move in positions { try? await session.move(to: move.box, zoom: move.zoom) }
        }
        reader = Task {
            do {
                var absorbers: [String: String] = [:]
                for try await update in session {
                    absorbers.merge(update.absorbers) { $1 }
                    guard update.isComplete else { continue }
                    report(.loaded(session.markers.values.sorted { $0.key < $1.key }, absorbers: absorbers))
                    absorbers = [:]
                }
                report(.failed("the daemon has ended the watch"))
            } catch {
                if !Task.isCancelled { report(.failed(MapSession.message(error))) }
            }
        }
    }

    /// Of several moves at once, only the newest counts.
    func move(to box: BoundingBox, zoom: Double) { moves.yield((box, zoom)) }

    func end() {
        moves.finish()
        reader.cancel()
        mover.cancel()
    }
}

/// An event for the terminal's map.
enum MapEvent: Sendable {
    case input([UInt8])
    case resized
    /// It is time to retry what has failed.
    case tick
    case ended
    /// Moving markers are due at their next position.
    case frame
    /// The markers to show after a change of the data or a move; and for each marker that has disappeared, by
    /// key, the key of the marker that absorbed it.
    case loaded([Marker], absorbers: [String: String])
    case opened(longitude: Double, latitude: Double, zoom: Int)
    /// A single query of the map failed.
    case refused(String)
    /// The viewport is no longer watched.
    case failed(String)
}

/// Describes markers in words.
enum MarkerName {
    private static let properties = ["name", "title", "label", "Name", "NAME", "ident"]

    /// `cluster of 1,723 points`, a point's name, or `point 17`.
    static func of(_ feature: Feature) -> String {
        if let cluster = feature.cluster { return "cluster of \(cluster.pointCount) points" }
        for property in properties {
            if let name = feature.properties[property]?.asString, !name.isEmpty { return name }
        }
        return feature.json["id"].map { "point \($0.asString ?? $0.text)" } ?? "point"
    }

    static func position(_ feature: Feature, _ projection: MapProjection) -> String {
        position(latitude: feature.latitude, longitude: feature.longitude, projection)
    }

    /// `52.52°N 13.41°E`, or `x 12.5  y 3` on a plane.
    static func position(latitude: Double, longitude: Double, _ projection: MapProjection) -> String {
        guard projection.wraps else {
            func text(_ value: Double) -> String { String(javaScript: value.rounded(decimals: 2)) }
            return "x \(text(longitude))  y \(text(latitude))"
        }
        func text(_ value: Double, _ positive: String, _ negative: String) -> String {
            String(javaScript: abs(value).rounded(decimals: 2)) + "°" + (value < 0 ? negative : positive)
        }
        return text(latitude, "N", "S") + " " + text(longitude, "E", "W")
    }
}

// SPDX-License-Identifier: MIT
import ClusterClient

/// Watches a map's viewport concurrently with the loop that draws it.
final class MapWatch: Sendable {
    private let reader: Task<Void, Never>
    private let mover: Task<Void, Never>
    private let moves: AsyncStream<Place>.Continuation

    private struct Place: Sendable {
        let box: BoundingBox
        let zoom: Double
    }

    /// - Parameter report: called with the markers whenever they change, and with the reason when watching fails.
    init(_ session: ViewportSession, _ report: @escaping @Sendable (MapEvent) -> Void) {
        let (places, moves) = AsyncStream.makeStream(of: Place.self, bufferingPolicy: .bufferingNewest(1))
        self.moves = moves
        // A move that fails also ends the reader, which reports it.
        mover = Task {
            for await place in places { try? await session.move(to: place.box, zoom: place.zoom) }
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
    func move(to box: BoundingBox, zoom: Double) { moves.yield(Place(box: box, zoom: zoom)) }

    func end() {
        moves.finish()
        reader.cancel()
        mover.cancel()
    }
}

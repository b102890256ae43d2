// SPDX-License-Identifier: MIT
import ClusterClient

/// What happens to the terminal's map.
enum MapEvent: Sendable {
    case input([UInt8])
    case resized
    /// Time to try again what has failed.
    case tick
    case ended
    /// Markers that move are due at their next position.
    case frame
    /// What is to be seen, after a change of the data or a move; and by the keys of markers that have gone, what absorbed them.
    case loaded([Marker], absorbers: [String: String])
    case opened(longitude: Double, latitude: Double, zoom: Int)
    /// A single question of the map's was not answered.
    case refused(String)
    /// The viewport is watched no more.
    case failed(String)
}

// SPDX-License-Identifier: MIT
import ClusterClient

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

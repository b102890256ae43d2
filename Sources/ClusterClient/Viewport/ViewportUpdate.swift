// SPDX-License-Identifier: MIT

/// A batch of the changes in a viewport.
public struct ViewportUpdate: Sendable, Equatable {
    /// Keys of markers to remove.
    public var removed: [String] = []
    /// With transitions, for the key of a removed marker: the key of the marker that has absorbed it, if the
    /// viewport has that marker.
    public var absorbers: [String: String] = [:]
    /// New markers.
    public var added: [Marker] = []
    /// Markers that replace the ones that the app has under the same keys.
    public var replaced: [Marker] = []
    /// Whether the app now has everything that the viewport shows.
    public var isComplete = false
    /// The number of the newest revision that the server has sent.
    public var revision: Int64 = 0

    /// The number of markers in the update.
    public var count: Int { removed.count + added.count + replaced.count }
}

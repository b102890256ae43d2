// SPDX-License-Identifier: MIT

/// A position in degrees.
public struct Position: Hashable, Sendable, BitwiseCopyable {
    public var longitude: Double
    public var latitude: Double

    @inlinable public init(longitude: Double, latitude: Double) {
        self.longitude = longitude
        self.latitude = latitude
    }
}

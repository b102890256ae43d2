// SPDX-License-Identifier: MIT

/// How points are clustered; names and defaults are supercluster's.
public struct ClusteringOptions: Sendable, Equatable {
    /// How positions are compared.
    public enum Precision: String, Sendable {
        /// As 32-bit floats, like supercluster: about a metre at zooms past 18.
        case float
        /// As 64-bit floats.
        case double
    }

    /// The clustering radius at each zoom from 0 to 24, in the unit of `extent`.
    public var radii: [Double]
    /// The side of a tile, in the unit of the radius.
    public var extent: Double
    /// The shallowest zoom with clusters, 0 to 24.
    public var minimumZoom: Int
    /// The deepest zoom with clusters, `minimumZoom` to 24.
    public var maximumZoom: Int
    /// The fewest points that make a cluster.
    public var minimumPoints: Int
    public var precision: Precision

    public static let deepestZoom = 24

    public init(
        radius: Double = 40, extent: Double = 512, minimumZoom: Int = 0, maximumZoom: Int = 16,
        minimumPoints: Int = 2, precision: Precision = .float
    ) {
        self.radii = Array(repeating: radius, count: Self.deepestZoom + 1)
        self.extent = extent
        self.minimumZoom = minimumZoom
        self.maximumZoom = maximumZoom
        self.minimumPoints = minimumPoints
        self.precision = precision
    }

    /// The radius at a zoom in the unit square's own unit, as supercluster computes it.
    func unitRadius(at zoom: Int) -> Double {
        radii[zoom] / (extent * Double(sign: .plus, exponent: zoom, significand: 1))
    }

    func validate() throws(ClusteringError) {
        guard minimumZoom >= 0, maximumZoom <= Self.deepestZoom, minimumZoom <= maximumZoom else {
            throw .invalidOptions("zooms must satisfy 0 <= minimumZoom <= maximumZoom <= \(Self.deepestZoom)")
        }
        guard extent > 0, extent.isFinite else { throw .invalidOptions("extent must be above 0") }
        guard radii.count == Self.deepestZoom + 1, radii.allSatisfy({ $0 >= 0 && $0.isFinite }) else {
            throw .invalidOptions("radius must be a finite number from 0 up, one for each zoom from 0 to 24")
        }
    }
}

/// Why an index could not be built.
public enum ClusteringError: Error, Sendable, Equatable {
    case cancelled
    case invalidOptions(String)
    /// More points than 32-bit indexes can number.
    case tooManyPoints(Int)
}

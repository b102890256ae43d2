// SPDX-License-Identifier: MIT
import Synchronization
import SystemSupport

/// How points are clustered; names and defaults are supercluster's.
public struct ClusteringOptions: Sendable, Equatable {
    /// The number type in which positions are compared.
    public enum Precision: String, Sendable, CaseIterable {
        /// As 32-bit floats, like supercluster 8: about a metre at zooms past 18.
        case float
        /// As 32-bit integers in units of 2^-30 of the world's width, like supercluster 9: about 4 cm at the equator.
        case fixed
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
    /// The minimum number of points in a cluster.
    public var minimumPoints: Int
    public var precision: Precision
    public var projection: Projection

    public static let deepestZoom = 24

    public init(
        radius: Double = 40, extent: Double = 512, minimumZoom: Int = 0, maximumZoom: Int = 16,
        minimumPoints: Int = 2, precision: Precision = .float,
        projection: Projection = .mercator
    ) {
        self.radii = Array(repeating: radius, count: Self.deepestZoom + 1)
        self.extent = extent
        self.minimumZoom = minimumZoom
        self.maximumZoom = maximumZoom
        self.minimumPoints = minimumPoints
        self.precision = precision
        self.projection = projection
    }

    /// The position of coordinates in the unit square, clamped to it, so that no input yields a position outside;
    /// not-a-number gives 0.
    @inline(__always) func unitPosition(_ longitude: Double, _ latitude: Double) -> (x: Double, y: Double) {
        let x = max(0, min(1, projection.x(longitude: longitude)))
        let y = max(0, min(1, projection.y(latitude: latitude)))
        guard precision == .fixed else { return (x, y) }
        return (FixedPoint.position(fromMiddle: x - 0.5), FixedPoint.position(fromMiddle: y - 0.5))
    }

    /// A position rounded as points' positions are, so that a box contains a point on its edge.
    func rounded(_ position: Double) -> Double {
        switch precision {
        case .float: Double(Float(position))
        case .fixed: FixedPoint.position(fromMiddle: position - 0.5)
        case .double: position
        }
    }

    /// A cluster's centre along one axis.
    ///
    /// - Parameters:
    ///   - sum: the sum of its points' positions times their weights.
    ///   - weight: the sum of their weights.
    @inline(__always) func center(_ sum: Double, _ weight: Double) -> Double {
        precision == .fixed ? FixedPoint.position(fromMiddle: (sum - 0.5 * weight) / weight) : sum / weight
    }

    /// How far rounding may move a cluster's centre from the mean of its points along one axis.
    var centerSlack: Double { precision == .fixed ? FixedPoint.unit : 0 }

    /// The radius at a zoom, in units of the unit square, as supercluster computes it.
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

/// Carries a value, such as a pointer, into work that several threads do concurrently.
///
/// `@unchecked Sendable` is sound because each thread writes only its own part, and no thread reads a part that
/// another writes before all have ended. Every use must ensure this.
struct Unchecked<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}

extension Parallel {
    func stopIfCancelled() throws(ClusteringError) {
        if isCancelled() { throw .cancelled }
    }

    /// Calls `body` with the number and the items of each share of `count` items, concurrently.
    @inline(__always) func forEachShare(of count: Int, _ body: (_ share: Int, _ items: Range<Int>) -> Void) {
        let shares = shares(of: count)
        run(shares) { share in
            let (start, end) = Self.bounds(share, of: shares, count: count)
            body(share, start..<end)
        }
    }

    /// For each share of `count` items, the sum of the amounts of those before it, and the sum of all.
    @inline(__always) func sums(of count: Int, _ amount: (_ items: Range<Int>) -> Int) -> (before: [Int], total: Int) {
        var sums = [Int](repeating: 0, count: shares(of: count))
        sums.withUnsafeMutableBufferPointer { buffer in
            let sums = Unchecked(buffer)
            forEachShare(of: count) { sums.value[$0] = amount($1) }
        }
        let total = Self.accumulate(&sums)
        return (sums, total)
    }
}

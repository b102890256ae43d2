// SPDX-License-Identifier: MIT
import SystemSupport

/// Points on the unit square, rounded as an index stores them: the coordinates that a build needs.
///
/// The columns are never written after they are filled, so threads may share them.
public struct ProjectedPoints: @unchecked Sendable {
    enum Columns {
        case float(PointColumns<Float>)
        case double(PointColumns<Double>)
    }

    let columns: Columns
    public let options: ClusteringOptions

    /// Projects points.
    ///
    /// - Parameters:
    ///   - longitudes: in degrees, -180 to 180.
    ///   - latitudes: in degrees, -90 to 90; as many.
    ///   - threads: how many cores may be used; the result does not depend on it.
    ///   - isCancelled: called every few milliseconds, from any thread; once true it must stay true.
    /// - Complexity: O(points).
    public init(
        longitudes: UnsafeBufferPointer<Double>, latitudes: UnsafeBufferPointer<Double>,
        options: ClusteringOptions, threads: Int = 1,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(ClusteringError) {
        try self.init(
            longitudes: longitudes, latitudes: latitudes, options: options,
            Parallel(.awake, threads: threads, isCancelled: isCancelled))
    }

    /// - Parameter limit: the maximum number of nodes: points and clusters together.
    init(
        longitudes: UnsafeBufferPointer<Double>, latitudes: UnsafeBufferPointer<Double>,
        options: ClusteringOptions, _ parallel: Parallel, limit: Int = ClusterIndex.nodeLimit
    ) throws(ClusteringError) {
        try options.validate()
        guard latitudes.count == longitudes.count else {
            throw .invalidOptions("every point needs a longitude and a latitude")
        }
        guard 2 * longitudes.count <= limit else { throw .tooManyPoints(longitudes.count) }
        self.options = options
        switch options.precision {
        case .float: columns = try .float(PointColumns(longitudes, latitudes, options, parallel))
        case .fixed, .double: columns = try .double(PointColumns(longitudes, latitudes, options, parallel))
        }
    }

    public var count: Int {
        switch columns {
        case .float(let columns): columns.count
        case .double(let columns): columns.count
        }
    }
}

/// Points' positions on the unit square.
struct PointColumns<Scalar: Coordinate> {
    let x: Scratch<Scalar>
    let y: Scratch<Scalar>
    let count: Int
}

extension PointColumns {
    /// Projects points.
    init(
        _ longitudes: UnsafeBufferPointer<Double>, _ latitudes: UnsafeBufferPointer<Double>,
        _ options: ClusteringOptions, _ parallel: Parallel
    ) throws(ClusteringError) {
        let (x, y) = (Scratch<Scalar>(capacity: longitudes.count), Scratch<Scalar>(capacity: longitudes.count))
        parallel.forEachShare(of: longitudes.count) { _, indexes in
            for index in indexes {
                if parallel.stops(at: index) { return }
                let position = options.unitPosition(longitudes[index], latitudes[index])
                (x.base[index], y.base[index]) = (Scalar(position.x), Scalar(position.y))
            }
        }
        try parallel.stopIfCancelled()
        self.init(x: x, y: y, count: longitudes.count)
    }
}

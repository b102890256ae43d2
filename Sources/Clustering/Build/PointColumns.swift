// SPDX-License-Identifier: MIT
import SystemSupport

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
        let (x, y) = (
            Scratch<Scalar>(capacity: longitudes.count), Scratch<Scalar>(capacity: longitudes.count)
        )
        let shares = parallel.shares(of: longitudes.count)
        parallel.run(shares) { share in
            let (start, end) = Parallel.bounds(share, of: shares, count: longitudes.count)
            for index in start..<end {
                if parallel.stops(at: index) { return }
                let place = options.unitPosition(longitudes[index], latitudes[index])
                (x.base[index], y.base[index]) = (Scalar(place.x), Scalar(place.y))
            }
        }
        try parallel.stopIfCancelled()
        self.init(x: x, y: y, count: longitudes.count)
    }
}

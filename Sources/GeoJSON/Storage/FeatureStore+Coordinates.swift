// SPDX-License-Identifier: MIT
import Dispatch

extension FeatureStore {
    /// Features that one thread reads at a time.
    private static let share = 32_768

    /// All coordinates as two columns, in degrees; nil where that was cancelled.
    ///
    /// - Parameters:
    ///   - threads: with more than one, all that the machine has are used where there are many features.
    ///   - isCancelled: asked now and then, by several threads.
    /// - Complexity: O(features' coordinates' text); the first time after reading they are at hand, and given up
    ///   with this.
    public func takeCoordinates(
        threads: Int, isCancelled: @Sendable () -> Bool
    ) -> (longitudes: [Double], latitudes: [Double])? {
        if let fresh = takeFresh() { return (fresh.longitudes, fresh.latitudes) }
        var longitudes = [Double](repeating: 0, count: count)
        var latitudes = longitudes
        longitudes.withUnsafeMutableBufferPointer { longitudes in
            latitudes.withUnsafeMutableBufferPointer { latitudes in
                let columns = CoordinateColumns(longitudes: longitudes, latitudes: latitudes)
                let shares = (count + Self.share - 1) / Self.share
                if threads > 1, shares > 1 {
                    DispatchQueue.concurrentPerform(iterations: shares) { share in
                        if !isCancelled() { read(rows(of: share), into: columns) }
                    }
                } else {
                    for share in 0..<shares where !isCancelled() { read(rows(of: share), into: columns) }
                }
            }
        }
        return isCancelled() ? nil : (longitudes, latitudes)
    }

    private func rows(of share: Int) -> Range<Int> {
        share * Self.share..<min(count, (share + 1) * Self.share)
    }

    private func read(_ rows: Range<Int>, into columns: CoordinateColumns) {
        for row in rows { (columns.longitudes[row], columns.latitudes[row]) = coordinates(row) }
    }

    /// Invariant: both columns have a place for each feature and outlive the reading of the shares, each of which
    /// writes its own rows' places alone; that is why it may be handed to several threads.
    private struct CoordinateColumns: @unchecked Sendable {
        let longitudes: UnsafeMutableBufferPointer<Double>
        let latitudes: UnsafeMutableBufferPointer<Double>
    }
}

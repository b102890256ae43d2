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
    ) -> FeatureCoordinates? {
        if let fresh = takeFresh() { return fresh }
        // Shares write their own rows' coordinates alone.
        let coordinates = FeatureCoordinates(capacity: count)
        coordinates.extend(by: count)
        let shares = (count + Self.share - 1) / Self.share
        if threads > 1, shares > 1 {
            DispatchQueue.concurrentPerform(iterations: shares) { share in
                if !isCancelled() { read(rows(of: share), into: coordinates) }
            }
        } else {
            for share in 0..<shares where !isCancelled() { read(rows(of: share), into: coordinates) }
        }
        return isCancelled() ? nil : coordinates
    }

    private func rows(of share: Int) -> Range<Int> {
        share * Self.share..<min(count, (share + 1) * Self.share)
    }

    private func read(_ rows: Range<Int>, into coordinates: FeatureCoordinates) {
        for row in rows {
            let (longitude, latitude) = self.coordinates(row)
            coordinates.write(longitude: longitude, latitude: latitude, at: row)
        }
    }
}

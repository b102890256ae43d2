// SPDX-License-Identifier: MIT
import SystemSupport

extension FeatureStore {
    /// The number of features that one thread reads at a time.
    private static let share = 32_768

    /// All coordinates as two columns, in degrees; nil if that was cancelled.
    ///
    /// - Parameters:
    ///   - threads: the most threads to use.
    ///   - isCancelled: called from time to time, by several threads.
    /// - Complexity: O(bytes of the coordinates' text). The first call after parsing returns the columns that
    ///   the parser made, which the store then releases.
    public func takeCoordinates(
        threads: Int, isCancelled: @Sendable () -> Bool
    ) -> FeatureCoordinates? {
        if let fresh = takeFresh() { return fresh }
        // Each thread writes only its own rows' coordinates.
        let coordinates = FeatureCoordinates(capacity: count)
        coordinates.extend(by: count)
        let shares = (count + Self.share - 1) / Self.share
        Parallel(.shared, threads: threads).forEach(below: shares) { share in
            if !isCancelled() { read(rows(of: share), into: coordinates) }
        }
        return isCancelled() ? nil : coordinates
    }

    private func rows(of share: Int) -> Range<Int> {
        share * Self.share..<min(count, (share + 1) * Self.share)
    }

    private func read(_ rows: Range<Int>, into coordinates: FeatureCoordinates) {
        let scan = FeatureScan(self)
        for row in rows {
            let (longitude, latitude) = scan.coordinates(row)
            coordinates.write(longitude: longitude, latitude: latitude, at: row)
        }
    }
}

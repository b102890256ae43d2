// SPDX-License-Identifier: MIT
import SystemSupport

/// All features' coordinates as two columns, in degrees. Immutable outside this module.
public final class FeatureCoordinates: Sendable {
    private let longitudeColumn: GrowingColumn<Double>
    private let latitudeColumn: GrowingColumn<Double>

    init(capacity: Int = 64) {
        longitudeColumn = GrowingColumn(capacity: capacity)
        latitudeColumn = GrowingColumn(capacity: capacity)
    }

    /// Lends the columns, valid only during the call.
    public func withColumns<Result, Failure: Error>(
        _ body: (
            _ longitudes: UnsafeBufferPointer<Double>, _ latitudes: UnsafeBufferPointer<Double>
        ) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withExtendedLifetime(self) { () throws(Failure) in try body(longitudeColumn.values, latitudeColumn.values) }
    }

    func reserve(_ more: Int) {
        longitudeColumn.reserve(more)
        latitudeColumn.reserve(more)
    }

    /// Counts features whose coordinates the caller writes.
    func extend(by more: Int) {
        longitudeColumn.extend(by: more)
        latitudeColumn.extend(by: more)
    }

    /// - Parameter latitudes: as many as longitudes.
    func append(_ longitudes: [Double], _ latitudes: [Double]) {
        longitudes.withUnsafeBufferPointer { longitudeColumn.append(contentsOf: $0) }
        latitudes.withUnsafeBufferPointer { latitudeColumn.append(contentsOf: $0) }
    }

    func append(_ other: FeatureCoordinates) {
        longitudeColumn.append(contentsOf: other.longitudeColumn.values)
        latitudeColumn.append(contentsOf: other.latitudeColumn.values)
    }

    /// Writes the coordinates of a feature that has been counted by `extend`.
    @inline(__always) func write(longitude: Double, latitude: Double, at index: Int) {
        longitudeColumn.base[index] = longitude
        latitudeColumn.base[index] = latitude
    }

    func shrink() {
        longitudeColumn.shrink()
        latitudeColumn.shrink()
    }
}

extension FeatureStore {
    /// The number of features that one thread reads at a time.
    private static let share = 32_768

    /// All coordinates as two columns, in degrees; nil if that was cancelled.
    ///
    /// - Parameters:
    ///   - threads: the most threads to use.
    ///   - isCancelled: called from time to time, by several threads.
    /// - Complexity: O(bytes of the coordinates' text). The first call after parsing returns the columns that the
    ///   parser made, which the store then releases.
    public func takeCoordinates(threads: Int, isCancelled: @Sendable () -> Bool) -> FeatureCoordinates? {
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

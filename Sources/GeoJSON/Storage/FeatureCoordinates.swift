// SPDX-License-Identifier: MIT

/// All features' coordinates as two columns, in degrees. Immutable outside this module.
public final class FeatureCoordinates: Sendable {
    private let longitudeColumn: GrowingColumn<Double>
    private let latitudeColumn: GrowingColumn<Double>

    init(capacity: Int = 64) {
        longitudeColumn = GrowingColumn(capacity: capacity)
        latitudeColumn = GrowingColumn(capacity: capacity)
    }

    public var count: Int { longitudeColumn.count }

    /// Lends the columns, valid only during the call.
    public func withColumns<Result, Failure: Error>(
        _ body: (
            _ longitudes: UnsafeBufferPointer<Double>, _ latitudes: UnsafeBufferPointer<Double>
        ) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withExtendedLifetime(self) { () throws(Failure) in
            try body(longitudeColumn.values, latitudeColumn.values)
        }
    }

    func hasRoom(for more: Int) -> Bool {
        longitudeColumn.hasRoom(for: more) && latitudeColumn.hasRoom(for: more)
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

    /// Writes the coordinates of features that have been counted by `extend`.
    func write(_ longitudes: [Double], _ latitudes: [Double], at first: Int) {
        Self.copy(longitudes, to: longitudeColumn.base + first)
        Self.copy(latitudes, to: latitudeColumn.base + first)
    }

    @inline(__always) func write(longitude: Double, latitude: Double, at index: Int) {
        longitudeColumn.base[index] = longitude
        latitudeColumn.base[index] = latitude
    }

    func shrink() {
        longitudeColumn.shrink()
        latitudeColumn.shrink()
    }

    private static func copy(_ values: [Double], to target: UnsafeMutablePointer<Double>) {
        values.withUnsafeBufferPointer { source in
            guard let start = source.baseAddress else { return }
            target.initialize(from: start, count: source.count)
        }
    }
}

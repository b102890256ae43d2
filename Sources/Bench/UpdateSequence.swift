// SPDX-License-Identifier: MIT

/// The benchmark's own features, which move among the source's. The sequence is the same in each run.
public struct UpdateSequence {
    /// The number of features.
    public static let features = 1000

    private let places: [(longitude: Double, latitude: Double)]
    private var random = SplitMix(seed: 7)
    private(set) var count = 0

    /// - Parameter places: the locations among which they move; not empty.
    public init(places: [(longitude: Double, latitude: Double)]) { self.places = places }

    public static func identifier(_ number: Int) -> String { "clusterctl-bench-\(number)" }

    /// The text of the next feature.
    mutating func next() -> String {
        let index = places[random.integer(below: places.count)]
        let longitude = min(180, max(-180, index.longitude + random.unit() - 0.5))
        let latitude = min(85, max(-85, index.latitude + random.unit() - 0.5))
        let id = Self.identifier(count % Self.features)
        count += 1
        return
            #"{"type":"Feature","id":"\#(id)","geometry":{"type":"Point","coordinates":[\#(longitude),\#(latitude)]},"properties":{"n":\#(count)}}"#
    }
}

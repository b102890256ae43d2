// SPDX-License-Identifier: MIT
import ClusterClient

/// The terminal's map: the markers shown, the selected marker, and the lines around the map.
struct TerminalMap {
    /// A text over the map, shown until the next key.
    enum Overlay { case none, help, properties }

    var camera: MapCamera
    private(set) var features: [Feature] = []
    private var keys: [String] = []
    private(set) var isLoaded = false
    /// The animation of the markers, until they have arrived.
    private(set) var slide: MarkerSlide?
    /// The selected marker's index in `features`.
    private(set) var selected: Int?
    /// A message shown instead of the keys, until the next key.
    var message = ""
    var overlay = Overlay.none

    init(camera: MapCamera) { self.camera = camera }

    /// The number of lines above and below the map: title, selection, keys.
    static let otherLines = 3

    /// Replaces the markers, and selects the one nearest to the middle.
    ///
    /// - Parameters:
    ///   - absorbers: for the key of each marker that has disappeared, the key of the marker that absorbed it.
    ///   - keepingSelection: whether the selected marker stays selected if it still exists, or else its absorber.
    mutating func show(_ markers: [Marker], absorbers: [String: String] = [:], keepingSelection: Bool) {
        let old = features.indices.map { (keys[$0], (feature: features[$0], position: position(of: $0))) }
        slide = MarkerSlide(
            from: Dictionary(old) { $1 }, to: markers, absorbers: absorbers, wraps: camera.projection.wraps)
        let former = selected.map { keys[$0] }
        let key = former.flatMap { absorbers[$0] } ?? former
        features = markers.map(\.feature)
        keys = markers.map(\.key)
        isLoaded = true
        let kept = keepingSelection ? key.flatMap { key in keys.firstIndex { $0 == key } } : nil
        selected = kept ?? order.first
    }

    /// Advances the markers by one frame.
    mutating func advance() {
        if slide?.advance() != true { slide = nil }
    }

    /// A marker's current position.
    func position(of index: Int) -> MarkerSlide.Position {
        slide?.position(of: keys[index], features[index]) ?? MarkerSlide.Position(features[index])
    }

    /// Selects the next marker further out; after the last one, the first again.
    ///
    /// - Parameter step: -1 for the previous marker.
    mutating func select(step: Int = 1) {
        let order = order
        guard let selected, let position = order.firstIndex(of: selected) else {
            return self.selected = order.first
        }
        self.selected = order[(position + step + order.count) % order.count]
    }

    var selectedFeature: Feature? {
        selected.map { features[$0] }
    }

    /// The visible markers, from the middle outwards.
    private var order: [Int] {
        let frame = camera.frame
        let middle = PixelPoint(x: Double(frame.width) / 2, y: Double(frame.height) / 2)
        let distances = features.indices.compactMap { index -> (index: Int, distance: Double)? in
            let pixel = frame.pixel(longitude: features[index].longitude, latitude: features[index].latitude)
            let (x, y) = (pixel.x - middle.x, pixel.y - middle.y)
            return abs(x) <= middle.x && abs(y) <= middle.y ? (index, x * x + y * y) : nil
        }
        return distances.sorted { ($0.distance, $0.index) < ($1.distance, $1.index) }.map(\.index)
    }
}

// SPDX-License-Identifier: MIT
import ClusterClient

/// The terminal's map: what is shown, which marker is selected, and what is written beside the map.
struct TerminalMap {
    /// A text over the map, until the next key.
    enum Overlay { case none, help, properties }

    var camera: MapCamera
    private(set) var features: [Feature] = []
    private var keys: [String] = []
    private(set) var isLoaded = false
    /// The markers' way to where they are, until they are there.
    private(set) var slide: MarkerSlide?
    /// The selected marker's index in `features`.
    private(set) var selected: Int?
    /// Shown instead of the keys, until the next key.
    var message = ""
    var overlay = Overlay.none

    init(camera: MapCamera) { self.camera = camera }

    /// The lines above and below the map: title, selection, keys.
    static let otherLines = 3

    /// Shows new markers instead of the old, and selects the one nearest to the middle.
    ///
    /// - Parameters:
    ///   - absorbers: by the keys of markers that have gone, the keys of those that absorbed them.
    ///   - keepingSelection: whether the selected marker stays selected if it is still there, or else its absorber.
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

    /// Moves the markers on by one frame.
    mutating func advance() {
        if slide?.advance() != true { slide = nil }
    }

    /// Where a marker is now.
    func position(of index: Int) -> MarkerSlide.Position {
        slide?.position(of: keys[index], features[index]) ?? MarkerSlide.Position(features[index])
    }

    /// Selects the next marker further out, and after the last one the first again.
    ///
    /// - Parameter step: -1 for the marker before.
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

    /// The markers that can be seen, from the middle outwards.
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

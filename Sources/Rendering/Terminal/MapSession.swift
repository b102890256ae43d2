// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import Dispatch
import JSON

/// A map in the terminal, from its first picture to the key that ends it.
///
/// One loop handles every event. The viewport is watched concurrently, so keys are handled while a change is arriving.
public struct MapSession {
    let client: Client
    let source: String
    let extra: JSONObject
    /// The area that the map shows first.
    let home: BoundingBox
    let palette: TerminalPalette
    private var map: TerminalMap
    private var keys = MapKeyDecoder()
    private let events = TerminalEvents(interval: .seconds(1))
    private var watch: MapWatch?
    private var hasMoved = true
    private var hasFailed = false
    /// Whether the next frame is already scheduled.
    private var isSliding = false

    /// - Parameters:
    ///   - extra: further params of every query, such as a filter.
    ///   - projection: the source's projection.
    ///   - palette: the colours that the terminal can show.
    public init(
        client: Client, source: String, extra: JSONObject, home: BoundingBox, projection: MapProjection,
        palette: TerminalPalette
    ) {
        self.palette = palette
        self.client = client
        self.source = source
        self.extra = extra
        self.home = home
        let size = TerminalScreen.size
        map = TerminalMap(
            camera: MapCamera(columns: size.columns, rows: size.rows - TerminalMap.otherLines, projection: projection))
        map.camera.look(at: home)
    }

    public mutating func run() async throws {
        defer { events.stop() }
        load()
        draw()
        for await event in events.stream {
            guard handle(event) else { break }
            draw()
        }
        watch?.end()
    }

    /// Handles an event; returns false if it ends the map.
    private mutating func handle(_ event: MapEvent) -> Bool {
        switch event {
        case .input(let bytes):
            map.message = ""
            map.overlay = .none
            for key in keys.decode(bytes) {
                if key == .quit { return false }
                press(key)
            }
        case .resized:
            let size = TerminalScreen.size
            map.camera.columns = size.columns
            map.camera.rows = max(size.rows - TerminalMap.otherLines, 1)
            load()
        case .tick: if watch == nil { load() }
        case .ended: return false
        case .frame:
            map.advance()
            isSliding = false
            scheduleFrame()
        case .loaded(let markers, let absorbers):
            map.show(markers, absorbers: absorbers, keepingSelection: !hasMoved)
            scheduleFrame()
            if hasFailed { map.message = "" }
            hasFailed = false
            hasMoved = false
        case .opened(let longitude, let latitude, let zoom):
            map.camera.look(longitude: longitude, latitude: latitude, zoom: zoom)
            load()
        case .refused(let message): map.message = message
        case .failed(let message):
            watch?.end()
            watch = nil
            hasFailed = true
            map.message = message
        }
        return true
    }

    private mutating func press(_ key: MapKey) {
        let step = 0.25
        switch key {
        case .west: map.camera.pan(right: -step, down: 0)
        case .east: map.camera.pan(right: step, down: 0)
        case .north: map.camera.pan(right: 0, down: -step)
        case .south: map.camera.pan(right: 0, down: step)
        case .zoomIn:
            map.camera.zoom(by: 1)
            return load(keepingSelection: true)
        case .zoomOut:
            map.camera.zoom(by: -1)
            return load(keepingSelection: true)
        case .wholeSource: map.camera.look(at: home)
        case .nextMarker: return map.select()
        case .previousMarker: return map.select(step: -1)
        case .help: return map.overlay = .help
        case .open: return open()
        case .quit: return
        }
        load()
    }

    /// Schedules the next frame if markers are moving.
    private mutating func scheduleFrame() {
        guard map.slide != nil, !isSliding else { return }
        isSliding = true
        let events = events.continuation
        Task {
            try? await Task.sleep(for: .milliseconds(MarkerSlide.milliseconds))
            events.yield(.frame)
        }
    }

    private func draw() { TerminalScreen.draw(map.lines(source: source, palette: palette)) }

    // MARK: The daemon

    /// Moves the watched viewport to the visible area.
    ///
    /// - Parameter keepingSelection: whether the selected marker, or the one that absorbs it, stays selected.
    private mutating func load(keepingSelection: Bool = false) {
        hasMoved = hasMoved || !keepingSelection
        let (box, zoom) = (map.camera.frame.box, Double(map.camera.zoom))
        if let watch { return watch.move(to: box, zoom: zoom) }
        let events = events.continuation
        do {
            let session = try client.viewport(of: source, in: box, zoom: zoom, transitions: true, extra: extra)
            watch = MapWatch(session) { events.yield($0) }
        } catch { events.yield(.failed(Self.message(error))) }
    }

    /// Zooms to the zoom at which the selected cluster splits, or shows the selected point's properties.
    private mutating func open() {
        guard let feature = map.selectedFeature else { return }
        guard let cluster = feature.cluster else { return map.overlay = .properties }
        let filter: JSONObject = extra["filter"].map { ["filter": $0] } ?? [:]
        let (client, source, events) = (client, source, events.continuation)
        Task {
            do {
                let zoom = try await client.expansionZoom(of: cluster.id, source: source, extra: filter)
                events.yield(.opened(longitude: feature.longitude, latitude: feature.latitude, zoom: zoom))
            } catch { events.yield(.refused(Self.message(error))) }
        }
    }

    static func message(_ error: any Error) -> String { (error as? RPCError)?.message ?? "\(error)" }
}

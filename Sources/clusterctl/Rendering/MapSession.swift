// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import JSON

/// A map in the terminal from its first picture to the key that ends it.
///
/// One loop takes every event; the daemon is asked beside it, so keys are answered while an answer is on its way.
struct MapSession {
    let client: Client
    let source: String
    let extra: JSONObject
    /// What the map shows first.
    let home: BoundingBox
    private var map: TerminalMap
    private var keys = MapKeyDecoder()
    private let events = TerminalEvents(interval: .seconds(1))
    private var loading: Task<Void, Never>?
    private var isLoading = false

    init(client: Client, source: String, extra: JSONObject, home: BoundingBox) {
        self.client = client
        self.source = source
        self.extra = extra
        self.home = home
        let size = TerminalScreen.size
        map = TerminalMap(camera: MapCamera(columns: size.columns, rows: size.rows - 1))
        map.camera.look(at: home)
    }

    mutating func run() async throws {
        defer { events.stop() }
        load()
        draw()
        for await event in events.stream {
            guard handle(event) else { break }
            draw()
        }
        loading?.cancel()
    }

    /// False where the map ends.
    private mutating func handle(_ event: MapEvent) -> Bool {
        switch event {
        case .input(let bytes):
            map.message = ""
            for key in keys.decode(bytes) {
                if key == .quit { return false }
                press(key)
            }
        case .resized:
            let size = TerminalScreen.size
            map.camera.columns = size.columns
            map.camera.rows = max(size.rows - 1, 1)
            load()
        case .tick: if !isLoading { load() }
        case .ended: return false
        case .loaded(let collection):
            isLoading = false
            let isSame = collection == map.collection
            if !isSame { map.show(collection) }
        case .opened(let longitude, let latitude, let zoom):
            map.camera.look(longitude: longitude, latitude: latitude, zoom: zoom)
            load()
        case .failed(let message):
            isLoading = false
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
        case .zoomIn: map.camera.zoom(by: 1)
        case .zoomOut: map.camera.zoom(by: -1)
        case .wholeSource: map.camera.look(at: home)
        case .nextCluster: return map.chooseNext()
        case .open: return open()
        case .quit: return
        }
        load()
    }

    private func draw() {
        TerminalScreen.draw(map.lines(source: source, palette: TerminalScreen.palette))
    }

    // MARK: The daemon

    /// Asks for what is in sight; an answer that is no longer wanted is given up.
    private mutating func load() {
        loading?.cancel()
        isLoading = true
        let (client, source, extra, events) = (client, source, extra, events.continuation)
        let (box, zoom) = (map.camera.frame.box, Double(map.camera.zoom))
        loading = Task {
            do {
                let shown = try await client.clusters(
                    of: source, in: box, zoom: zoom, extra: extra.with(["properties": .array([])]))
                if !Task.isCancelled { events.yield(.loaded(shown)) }
            } catch {
                if !Task.isCancelled { events.yield(.failed(Self.message(error))) }
            }
        }
    }

    /// Zooms to where the chosen cluster falls apart.
    private func open() {
        guard let feature = map.chosenFeature, let cluster = feature.cluster else { return }
        let (client, source, extra, events) = (client, source, extra, events.continuation)
        Task {
            do {
                let zoom = try await client.expansionZoom(of: cluster.id, source: source, extra: extra)
                events.yield(
                    .opened(longitude: feature.longitude, latitude: feature.latitude, zoom: zoom))
            } catch { events.yield(.failed(Self.message(error))) }
        }
    }

    private static func message(_ error: any Error) -> String { (error as? RPCError)?.message ?? "\(error)" }
}

// SPDX-License-Identifier: MIT
import Responses
import JSON
import SourceEngine
import SystemSupport

/// Updates of a source, one after another: after each, the index has all features, and a client that watches has what a
/// fresh answer has.
///
/// The input is a list of steps of four bytes: what is done, a feature's id, and its position.
final class UpdatesTarget: FuzzTarget {
    private static let base = (0..<60).map { feature($0, Double($0 * 37 % 170), Double($0 * 11 % 80)) }

    func take(_ input: UnsafeRawBufferPointer) {
        guard let name = SourceName("a") else { return }
        let registry = SourceRegistry(limits: SourceLimits(filterCacheBytes: 0, buildThreads: 1))
        guard let source = try? registry.create(name, options: SourceOptions()) else {
            violated("a source can be made")
        }
        update(source, upsert: Self.base, remove: [])
        var client = WatchingClient()
        client.look(at: source, zoom: 3)
        for step in stride(from: 0, to: min(input.count - 3, 160), by: 4) {
            let (action, id) = (input[step], Int(input[step + 1]))
            let (x, y) = (Double(input[step + 2]) - 128, Double(input[step + 3]) / 2 - 60)
            switch action % 4 {
            case 0: update(source, upsert: [Self.feature(id, x, y)], remove: [])
            case 1: update(source, upsert: [], remove: [id])
            case 2:
                let many = (0..<8).map { Self.feature(id + $0, x + Double($0) / 8, y) }
                update(source, upsert: many, remove: [id + 100])
            default: break
            }
            client.look(at: source, zoom: Double(action >> 2 & 7))
        }
    }

    private func update(_ source: Source, upsert: [String], remove: [Int]) {
        let text = Array("[\(upsert.joined(separator: ","))]".utf8)
        let removals = remove.compactMap { FeatureIdentifier(.number(Double($0))) }
        let outcome = try? source.update(upserts: text, removals: removals, .never)
        if outcome == nil { violated("a good update is taken") }
    }

    private static func feature(_ id: Int, _ x: Double, _ y: Double) -> String {
        #"{"type":"Feature","id":\#(id),"geometry":{"type":"Point","coordinates":[\#(x),\#(y)]},"properties":{}}"#
    }
}

/// A client that watches the whole world, and what it has.
struct WatchingClient {
    private var table = ShownMarkers(hasTransitions: false)
    private var markers: Set<String> = []
    private static let world = Box(west: -180, south: -90, east: 180, north: 90)

    /// Takes the changes since the last look, and compares with what a client gets that asks now.
    mutating func look(at source: Source, zoom: Double) {
        let query = ClustersQuery(box: Self.world, zoom: zoom, limit: nil, output: FeatureOutput())
        let revision = source.revision
        guard let view = try? revision.view(nil, zoom: zoom, .never) else { violated("there is a view") }
        var bytes = ByteWriter()
        guard
            let table = try? revision.writeChange(from: table, to: query, of: view, into: &bytes, .never),
            let item = try? JSONReader.parse(bytes.bytes)
        else { violated("a change can be written") }
        self.table = table
        var points = 0
        for case .string(let key) in Self.list(item, "remove") where markers.remove(key) == nil {
            violated("what goes was there")
        }
        for feature in Self.list(item, "add") {
            guard case .string(let key)? = Self.member(feature, "key") else {
                violated("what comes has a key")
            }
            // One that is there already is replaced.
            markers.insert(key)
        }
        var answer = ByteWriter()
        guard (try? revision.writeClusters(query, of: view, into: &answer, .never)) != nil,
            let value = try? JSONReader.parse(answer.bytes)
        else { violated("clusters can be written") }
        let all = Self.list(value, "features")
        for feature in all {
            let properties = Self.member(feature, "properties") ?? .null
            if case .number(let count)? = Self.member(properties, "point_count") {
                points += Int(count)
            } else {
                points += 1
            }
        }
        if points != revision.pointCount { violated("all features are shown") }
        if all.count != markers.count { violated("a watching client has what there is") }
    }

    private static func member(_ value: JSONValue, _ name: String) -> JSONValue? {
        if case .object(let object) = value { object[name] } else { nil }
    }

    private static func list(_ value: JSONValue, _ name: String) -> [JSONValue] {
        if case .array(let list)? = member(value, name) { list } else { [] }
    }
}

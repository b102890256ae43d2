// SPDX-License-Identifier: MIT
import Responses
import JSON
import SourceEngine
import SystemSupport

/// Clients that watch a viewport that moves, over data that change: what each makes of the changes is what a client gets
/// that asks now.
///
/// The input is a list of steps of six bytes: what changes, a feature's id, its position, and the viewport and its zoom.
final class WatchesTarget: FuzzTarget {
    func take(_ input: UnsafeRawBufferPointer) {
        guard let first = input.first, let name = SourceName("a"),
            let options = try? SourceOptions(
                reading: JSONReader.parse(Self.options[Int(first) % Self.options.count]))
        else { return }
        let registry = SourceRegistry(limits: SourceLimits(filterCacheBytes: 0, buildThreads: 1))
        guard let source = try? registry.create(name, options: options) else {
            violated("a source can be made")
        }
        change(source, (0..<40).map { Self.feature($0, Double($0 * 37 % 170), Double($0 * 11 % 80)) }, [])
        var plain = Watch(ShownMarkers(hasTransitions: false)) {
            (revision, table, query, view, bytes) throws(SourceError) in
            try revision.writeChange(from: table, to: query, of: view, into: &bytes, .never)
        }
        var moving = Watch(ShownMarkers(hasTransitions: true)) {
            (revision, table, query, view, bytes) throws(SourceError) in
            try revision.writeChange(from: table, to: query, of: view, into: &bytes, .never)
        }
        for step in stride(from: 1, to: min(input.count - 5, 150), by: 6) {
            let bytes = input[step..<step + 6].map { $0 }
            let (x, y) = (Double(bytes[2]) - 128, Double(bytes[3]) / 2 - 60)
            let id = Int(bytes[1])
            switch bytes[0] % 4 {
            case 0: change(source, [Self.feature(id, x, y)], [])
            case 1: change(source, [], [id, id + 1])
            case 2: change(source, (0..<6).map { Self.feature(id + $0, x + Double($0) / 50, y) }, [id + 90])
            default: break
            }
            let query = Self.query(bytes)
            plain.look(at: source, query)
            moving.look(at: source, query)
        }
    }

    private static let options = [
        "{}", #"{"clusterIds":"origin","sortKey":["id"]}"#, #"{"maxZoom":3,"minPoints":3}"#,
        #"{"clusterProperties":{"sum":["+",["get","n"]]},"radius":90}"#,
    ]

    private static func query(_ bytes: [UInt8]) -> ClustersQuery {
        let west = Double(bytes[4] & 15) * 24 - 200
        let south = Double(bytes[4] >> 4) * 10 - 85
        let width = bytes[5] & 64 == 0 ? 360.0 : 70
        let box = Box(west: west, south: bytes[5] & 64 == 0 ? -90 : south, east: west + width, north: 90)
        return ClustersQuery(
            box: box, zoom: Double(bytes[5] & 7),
            limit: bytes[5] & 128 == 0 ? nil : Int(bytes[5] >> 3 & 7) + 1,
            output: FeatureOutput())
    }

    private func change(_ source: Source, _ upserts: [String], _ removals: [Int]) {
        let text = Array("[\(upserts.joined(separator: ","))]".utf8)
        let removals = removals.compactMap { FeatureIdentifier(.number(Double($0))) }
        let outcome = try? source.update(upserts: text, removals: removals, .never)
        if outcome == nil { violated("a good update is taken") }
    }

    private static func feature(_ id: Int, _ x: Double, _ y: Double) -> String {
        #"{"type":"Feature","id":\#(id),"geometry":{"type":"Point","coordinates":[\#(x),\#(y)]},"properties":{"n":\#(id)}}"#
    }
}

/// A client that watches: what the server remembers of it, and what it shows.
private struct Watch<Table> {
    /// Writes the change from what a client has to what it should have.
    typealias Write = (Revision, Table, ClustersQuery, View, inout ByteWriter) throws(SourceError) -> Table

    private let nothing: Table
    private let write: Write
    private var table: Table
    private var shown = Markers()

    init(_ nothing: Table, _ write: @escaping Write) {
        (self.nothing, self.write, table) = (nothing, write, nothing)
    }

    mutating func look(at source: Source, _ query: ClustersQuery) {
        let revision = source.revision
        var whole = Markers()
        table = shown.take(revision, query, table, write)
        _ = whole.take(revision, query, nothing, write)
        if shown != whole { violated("a watching client has what there is") }
    }
}

/// What a client shows, by key.
private struct Markers: Equatable {
    private var features: [String: [JSONValue]] = [:]

    /// Applies the change that `write` writes.
    mutating func take<Table>(
        _ revision: Revision, _ query: ClustersQuery, _ former: Table, _ write: Watch<Table>.Write
    ) -> Table {
        var bytes = ByteWriter()
        guard let view = try? revision.view(nil, zoom: query.zoom, .never),
            let table = try? write(revision, former, query, view, &bytes),
            let item = try? JSONReader.parse(bytes.bytes)
        else { violated("a change can be written") }
        let former = Set(features.keys)
        for marker in Self.list(item, "remove") {
            let key = Self.text(marker, "key") ?? Self.text(marker)
            if key.flatMap({ features.removeValue(forKey: $0) }) == nil { violated("what goes was there") }
        }
        for feature in Self.list(item, "update") {
            guard let key = Self.text(feature, "key"),
                features.updateValue(Self.content(feature), forKey: key) != nil
            else { violated("what changes was there") }
        }
        for feature in Self.list(item, "add") {
            guard let key = Self.text(feature, "key") else { violated("what comes has a key") }
            // A change without transitions replaces a marker by adding it again.
            if features.updateValue(Self.content(feature), forKey: key) != nil,
                Self.member(item, "update") != nil
            {
                violated("what comes was not there")
            }
            if let from = Self.text(feature, "from"), !former.contains(from) {
                violated("what comes comes from what was there")
            }
        }
        for marker in Self.list(item, "remove") {
            if let into = Self.text(marker, "into"), features[into] == nil {
                violated("what goes goes into what is there")
            }
        }
        if case .number(let kept)? = Self.member(item, "keep"),
            Int(kept) + Self.list(item, "add").count + Self.list(item, "update").count != features.count
        {
            violated("what is kept is counted")
        }
        return table
    }

    private static func content(_ feature: JSONValue) -> [JSONValue] {
        ["id", "geometry", "properties"].map { member(feature, $0) ?? .null }
    }

    private static func text(_ value: JSONValue, _ name: String) -> String? {
        member(value, name).flatMap { text($0) }
    }

    private static func text(_ value: JSONValue) -> String? {
        if case .string(let text) = value { text } else { nil }
    }

    private static func member(_ value: JSONValue, _ name: String) -> JSONValue? {
        if case .object(let object) = value { object[name] } else { nil }
    }

    private static func list(_ value: JSONValue, _ name: String) -> [JSONValue] {
        if case .array(let list)? = member(value, name) { list } else { [] }
    }
}

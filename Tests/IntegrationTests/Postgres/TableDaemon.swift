// SPDX-License-Identifier: MIT
import ClusterProtocol
import Foundation
import JSON
import TestSupport

/// A real daemon whose source `vehicles` follows the table `vehicles` of a real server. It can be killed and started
/// again on the same state.
final class TableDaemon {
    private let folder: String
    private let configuration: String
    private(set) var daemon: DaemonProcess
    private var open: RawClient?
    let keepsState: Bool

    static let options = #"{"radius":60,"sortKey":["id"],"clusterIds":"origin"}"#

    /// - Parameters:
    ///   - connection: how libpq connects.
    ///   - settings: further members of `postgres`, each with a comma before it.
    init(
        _ connection: String, keepsState: Bool = true, slot: String? = nil, settings: String = "",
        options: String = TableDaemon.options, limits: String = "{}"
    ) throws {
        folder = NSTemporaryDirectory() + "clusterd-table-" + UUID().uuidString.prefix(12)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        configuration = folder + "/clusterd.json"
        self.keepsState = keepsState
        let slot = slot ?? "s_" + UUID().uuidString.prefix(8).lowercased()
        let text = """
            {\(keepsState ? "\"state\":\"\(folder)/state\"," : "")"limits":\(limits),"sources":{"vehicles":{"postgres":
            {"connection":"\(connection)","table":"public.vehicles","slot":"\(slot)"\
            \(keepsState ? "" : ",\"temporary\":true")\(settings)},"options":\(options)}}}
            """
        try text.write(toFile: configuration, atomically: true, encoding: .utf8)
        daemon = try DaemonProcess(["--config", configuration])
    }

    deinit {
        _ = daemon.end(with: SIGKILL)
        try? FileManager.default.removeItem(atPath: folder)
    }

    func stop(_ signal: Int32 = SIGKILL) {
        open = nil
        _ = daemon.end(with: signal)
    }

    func start() throws { daemon = try DaemonProcess(["--config", configuration]) }

    func restart(_ signal: Int32 = SIGKILL) throws {
        stop(signal)
        try start()
    }

    /// Replaces a text in the configuration, and reloads it.
    func reconfigure(_ old: String, _ new: String) throws {
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        try text.replacingOccurrences(of: old, with: new).write(
            toFile: configuration, atomically: true, encoding: .utf8)
        kill(daemon.process.processIdentifier, SIGHUP)
    }

    func client() throws -> RawClient {
        if let open { return open }
        let client = try daemon.client()
        open = client
        return client
    }

    func call(_ method: String, _ params: JSONObject = [:]) throws -> JSONValue {
        var params = params
        params["source"] = "vehicles"
        return try client().call(method, .object(params))
    }

    /// The whole message of an answer, an error too.
    func exchange(_ method: String, _ params: JSONObject = [:], timeoutMilliseconds: Int? = nil) throws -> JSONObject {
        var params = params
        params["source"] = "vehicles"
        return try client().exchange(
            method, .object(params), extra: timeoutMilliseconds.map { ",\"timeoutMs\":\($0)" } ?? "")
    }

    func description() throws -> JSONObject {
        guard case .object(let description) = try call("SourceService/GetSource") else { return [:] }
        return description
    }

    func replication() throws -> JSONObject {
        guard case .object(let replication)? = try description()["replication"] else { return [:] }
        return replication
    }

    /// Asks until a description fits, at most for a minute.
    @discardableResult func wait(until fits: (JSONObject) throws -> Bool) throws -> JSONObject {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            let description = try description()
            if try fits(description) { return description }
            guard ContinuousClock.now < end else {
                throw DaemonProcess.Failure(
                    description: "the source stays \(JSONValue.object(description).text)\n\(daemon.errorText())")
            }
            // A moment on a call that does nothing but pass time.
            _ = try exchange(
                "ClusterService/GetClusters", ["bbox": [0, 0, 1, 1], "zoom": 0, "atLeast": "FFFFFFFF/0"],
                timeoutMilliseconds: 20)
        }
    }

    /// The state of `replication`.
    func wait(for state: String) throws {
        try wait { $0["replication"]?["state"] == .string(state) }
    }

    /// All of the world at a zoom, with the data of a position.
    func clusters(_ zoom: Int = 20, atLeast position: String) throws -> JSONValue {
        try call(
            "ClusterService/GetClusters",
            ["bbox": [-180, -90, 180, 90], "zoom": .number(Double(zoom)), "atLeast": .string(position)])
    }

    /// The ids of all features at a position, in order.
    func ids(atLeast position: String) throws -> [String] {
        try clusters(atLeast: position)["features"]?.array?.compactMap { $0["id"]?.text }.sorted() ?? []
    }

    /// All that clients see at a position, without the numbers of revisions, and the position.
    func seen(atLeast position: String) throws -> (text: String, position: String) {
        var text = ""
        var reached = ""
        func add(_ method: String, _ params: JSONObject) throws -> JSONObject {
            var params = params
            params["atLeast"] = .string(position)
            guard case .object(var answer) = try call("ClusterService/\(method)", params) else { return [:] }
            reached = answer["position"]?.string ?? ""
            answer["revision"] = nil
            answer["position"] = nil
            text += JSONValue.object(answer).text + "\n"
            return answer
        }
        let details: JSONValue = ["hull", "bbox", "expansionZoom", "coincident", "anchor", "key"]
        for zoom in [0, 2, 5, 9, 17] {
            let shown = try add(
                "GetClusters", ["bbox": [-180, -90, 180, 90], "zoom": .number(Double(zoom)), "include": details])
            let clusters = shown["features"]?.array?.filter { $0["properties"]?["cluster"] != nil } ?? []
            for id in clusters.prefix(3).compactMap({ $0["id"] }) {
                for method in MethodDeclaration.all where method.takes(.clusterID) {
                    _ = try add(method.name, ["clusterId": id])
                }
            }
        }
        _ = try add("GetTile", ["z": 1, "x": 1, "y": 0, "encoding": "mvt", "include": ["key"]])
        _ = try add("GetTile", ["z": 1, "x": 0, "y": 0])
        for filter: JSONValue? in [nil, [">", ["get", "speed"], 10]] {
            var params: JSONObject = ["source": "vehicles", "atLeast": .string(position)]
            if let filter { params["filter"] = filter }
            let pages = try daemon.client()
            _ = try pages.open("SourceService/GetFeatures", .object(params))
            while let item = try pages.receive()["item"] { text += (item["features"]?.text ?? "") + "\n" }
        }
        return (text, reached)
    }
}

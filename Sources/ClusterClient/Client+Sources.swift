// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// Typed calls of `SourceService`; `Client+Import.swift` has the import of features.
extension Client {
    /// Creates an empty source. Throws `ALREADY_EXISTS` if there is one with that name.
    @discardableResult
    public func createSource(_ source: String, options: JSONObject = [:]) async throws -> SourceDescription {
        let params: JSONObject = ["source": .string(source), "options": .object(options)]
        return try SourceDescription(try await call("SourceService/CreateSource", CallParams(params)).value())
    }

    /// A source's description. Throws `NOT_FOUND` if there is no such source.
    public func source(_ source: String) async throws -> SourceDescription {
        try SourceDescription(try await call("SourceService/GetSource", ["source": .string(source)]).value())
    }

    /// All sources, ordered by name.
    public func sources() async throws -> [SourceDescription] {
        let answer = try await call("SourceService/ListSources").value()
        return try (answer["sources"]?.asArray ?? []).map(SourceDescription.init)
    }

    public func deleteSource(_ source: String) async throws {
        _ = try await call("SourceService/DeleteSource", ["source": .string(source)])
    }

    /// Adds and replaces features by id, and removes others.
    ///
    /// - Returns: the description, with `inserted`, `updated`, `removed` and `missing`.
    public func updateFeatures(
        of source: String, upsert: [JSONValue] = [], remove: [JSONValue] = []
    ) async throws -> Answer {
        var params: JSONObject = ["source": .string(source)]
        if !upsert.isEmpty { params["upsert"] = .array(upsert) }
        if !remove.isEmpty { params["remove"] = .array(remove) }
        return try await call("SourceService/UpdateFeatures", CallParams(params))
    }
}

/// What the daemon reports about a source.
public struct SourceDescription: Sendable, Equatable {
    public let name: String
    public let points: Int
    public let revision: Int64
    /// `empty`, `building`, `ready`, `stale`, `damaged` or `unavailable`.
    public let state: String
    /// The data's position in the log of the table that the source follows; nil if it follows none.
    public let position: String?
    public let memoryBytes: Int
    /// Bytes of features' text and of the index that stay in files of the state directory and are read on demand.
    public let fileBytes: Int
    /// Those of the index: 0 if it is in memory.
    public let indexFileBytes: Int
    /// How long the index took to build, in milliseconds.
    public let buildMilliseconds: Double
    public let options: JSONObject
    /// The names of its views, `SOURCE:VIEW`, by which queries name them.
    public var viewNames: [String] { (options["views"]?.asObject?.members ?? []).map { "\(name):\($0.key)" } }
    /// The whole description, including the members above.
    public let json: JSONObject

    package init(_ value: JSONValue) throws {
        guard let json = value.asObject, let name = json["source"]?.asString else {
            throw RPCError(.internal, "the server's answer is not a source's description")
        }
        self.json = json
        self.name = name
        points = json["points"]?.asInteger ?? 0
        revision = json["revision"]?.asNumber.flatMap { Int64(exactly: $0) } ?? 0
        state = json["state"]?.asString ?? ""
        position = json["position"]?.asString
        memoryBytes = json["memoryBytes"]?.asInteger ?? 0
        fileBytes = json["fileBytes"]?.asInteger ?? 0
        indexFileBytes = json["indexFileBytes"]?.asInteger ?? 0
        buildMilliseconds = json["buildMs"]?.asNumber ?? 0
        options = json["options"]?.asObject ?? [:]
    }
}

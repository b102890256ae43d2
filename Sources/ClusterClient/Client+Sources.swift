// SPDX-License-Identifier: MIT
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

// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import JSON

/// Makes sure that a source exists with the requested options before an import.
enum SourcePreparation {
    /// What was done, so that a failed import can undo it.
    enum Outcome { case existed, created }

    static func prepare(_ source: String, options: JSONObject, _ client: Client) async throws -> Outcome {
        do {
            try await client.createSource(source, options: options)
            return .created
        } catch let error as RPCError where error.code == .alreadyExists {
            if !options.isEmpty { try await change(source, options, client) }
            return .existed
        }
    }

    /// Sets the given options and keeps the others. Does nothing if all have these values.
    private static func change(_ source: String, _ options: JSONObject, _ client: Client) async throws {
        let present = try await client.source(source).options
        let wanted = present.with(options)
        guard wanted != present else { return }
        _ = try await client.call(
            "SourceService/UpdateOptions", ["source": .string(source), "options": .object(wanted)])
    }
}

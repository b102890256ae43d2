// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import JSON

extension Invocation {
    func clusterParams(_ members: JSONObject = [:]) throws -> JSONObject {
        var members = members
        members["zoom"] = arguments.number("zoom").map { .number($0) }
        members["clusterId"] = .number(Double(try clusterID(1)))
        return try queryParams(members)
    }

    func clusterCall(_ method: String, _ members: JSONObject = [:]) async throws -> Answer {
        try await call("ClusterService/\(method)", CallParams(try clusterParams(members)))
    }
}

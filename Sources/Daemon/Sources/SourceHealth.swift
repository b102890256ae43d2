// SPDX-License-Identifier: MIT
import HTTP2Server
import SourceEngine

/// Whether sources answer queries, for health checks.
struct SourceHealth: HealthStatus {
    let registry: SourceRegistry

    func serves(source name: String) -> Bool? {
        guard let name = SourceReference(name), let source = try? registry.source(name.source) else { return nil }
        let description = source.description
        return switch description.state {
        case .empty, .building, .ready, .stale: (try? description.revision.read(by: name)) == nil ? nil : true
        case .loading, .damaged, .unavailable: false
        }
    }
}

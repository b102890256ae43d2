// SPDX-License-Identifier: MIT
import HTTP2Server
import SourceEngine

/// Whether sources answer queries, for health checks.
struct SourceHealth: HealthStatus {
    let registry: SourceRegistry

    func serves(source name: String) -> Bool? {
        guard let name = SourceName(name), let source = try? registry.source(name) else { return nil }
        return switch source.description.state {
        case .empty, .building, .ready, .stale: true
        case .loading, .damaged, .unavailable: false
        }
    }
}

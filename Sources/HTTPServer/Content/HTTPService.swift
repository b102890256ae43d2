// SPDX-License-Identifier: MIT
import RPC
import Synchronization

/// What all loops' HTTP servers share: rules, cached tiles, the page's files, the access log and counters. Safe
/// from any thread.
package final class HTTPService: Sendable {
    let cache: AnswerCache
    let assets: AssetStore
    let archives = ArchiveStore()
    let log = AccessLog()
    let counters = HTTPCounters()
    /// What it adds to `GetStats`.
    package var metrics: [Metric] { counters.metrics }
    /// Part of every answer's tag, so that no tag outlives the process that issued it.
    let process = UInt64.random(in: 1 ... .max)
    private let current: Mutex<HTTPRules>

    package init(_ settings: HTTPSettings) {
        cache = AnswerCache(limit: settings.limits.cacheBytes, held: counters)
        assets = AssetStore(leaflet: settings.assets)
        current = Mutex(HTTPRules(settings))
    }

    package var rules: HTTPRules { current.withLock { $0 } }

    /// Whether a further connection may be served.
    func hasRoom(for rules: HTTPRules) -> Bool {
        counters.connections.load(ordering: .relaxed) < rules.settings.limits.maxConnections
    }

    /// Counts connections of all versions of HTTP.
    package func countConnections(_ change: Int) { counters.connections.add(change, ordering: .relaxed) }

    /// Applies changed settings and reopens the access log. Returns what went wrong with it, in words for a person.
    ///
    /// - Parameter exportDirectories: the directories whose archives are served.
    package func apply(_ settings: HTTPSettings, exportDirectories: [String]) -> String? {
        archives.setDirectories(exportDirectories)
        current.withLock { $0 = HTTPRules(settings, hosts: $0.hosts.taking(settings.hosts)) }
        cache.setLimit(settings.limits.cacheBytes)
        assets.setLeaflet(settings.assets)
        return log.reopen(settings.accessLog)
    }

    /// Allows `Host` to name a listening address.
    package func add(listening host: String, isIPv6: Bool, isWildcard: Bool, port: UInt16) {
        current.withLock { rules in
            if isWildcard {
                rules.hosts.wildcardPorts.append(port)
            } else {
                rules.hosts.listening.append(HostName(name: isIPv6 ? "[\(host)]" : host, port: port))
            }
        }
    }
}

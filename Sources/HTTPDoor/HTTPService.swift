// SPDX-License-Identifier: MIT
import Calls
import Synchronization

/// What all loops' HTTP doors share: rules, cached tiles, the page's files, the access log and counters. Safe
/// from any thread.
package final class HTTPService: Sendable {
    let cache: AnswerCache
    let assets: AssetStore
    let archives = ArchiveStore()
    let log = AccessLog()
    let counters: HTTPCounters
    /// Part of every answer's tag, so that no tag outlives the process that issued it.
    let process = UInt64.random(in: 1 ... .max)
    private let current: Mutex<HTTPRules>

    package init(_ settings: HTTPSettings, _ counters: HTTPCounters) {
        self.counters = counters
        cache = AnswerCache(limit: settings.limits.cacheBytes, held: counters)
        assets = AssetStore(leaflet: settings.assets)
        current = Mutex(HTTPRules(settings))
    }

    var rules: HTTPRules { current.withLock { $0 } }

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

/// The settings in the form in which requests are checked against them.
struct HTTPRules: Sendable {
    let settings: HTTPSettings
    var hosts: HostRules
    let origins: OriginRules
    private let compressedVary: String
    private let proxiedVary: String
    let cacheControl: String

    init(_ settings: HTTPSettings, hosts: HostRules = HostRules()) {
        self.settings = settings
        self.hosts = hosts.taking(settings.hosts)
        origins = OriginRules(origins: settings.origins)
        compressedVary = origins.areVaried ? "Accept-Encoding, Origin" : "Accept-Encoding"
        proxiedVary = "\(compressedVary), X-Forwarded-Proto"
        let seconds = settings.maxAge
        cacheControl =
            seconds > 0 ? "public, max-age=\(seconds), stale-while-revalidate=\(seconds)" : "no-cache"
    }

    /// `Vary` of answers.
    func vary(_ variation: AnswerPlan.Variation) -> String? {
        switch variation {
        case .none: nil
        case .encoding: compressedVary
        case .encodingAndProtocol: proxiedVary
        }
    }
}

extension HostRules {
    fileprivate func taking(_ names: [String]) -> HostRules {
        var rules = self
        rules.hosts = names.compactMap { HostName($0) }
        return rules
    }
}

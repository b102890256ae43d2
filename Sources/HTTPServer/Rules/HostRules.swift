// SPDX-License-Identifier: MIT

/// Determines which `Host` a request may name. Otherwise another site's page could reach a daemon on loopback
/// through a name of its own that it resolves to 127.0.0.1 (DNS rebinding).
struct HostRules: Sendable {
    /// The addresses on which the interface listens, except wildcards.
    var listening: [HostName] = []
    /// Ports of wildcard addresses; on these, loopback addresses are valid too.
    var wildcardPorts: [UInt16] = []
    /// `http.hosts`. A host without a port stands for all ports.
    var hosts: [HostName] = []

    private static let loopback = ["127.0.0.1", "[::1]"]

    func admits(_ host: HostName) -> Bool {
        if host.name == "localhost" { return true }
        if hosts.contains(where: {
            $0.name == host.name && ($0.port == nil || host.port == nil || $0.port == host.port)
        }) {
            return true
        }
        if listening.contains(where: { $0.name == host.name && (host.port == nil || $0.port == host.port) }) {
            return true
        }
        guard !wildcardPorts.isEmpty, Self.loopback.contains(host.name) else { return false }
        return host.port.map(wildcardPorts.contains) ?? true
    }

    /// These rules with other names that are always allowed.
    func taking(_ names: [String]) -> HostRules {
        var rules = self
        rules.hosts = names.compactMap { HostName($0) }
        return rules
    }
}

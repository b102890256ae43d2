// SPDX-License-Identifier: MIT

/// The settings in the form in which requests are checked against them.
package struct HTTPRules: Sendable {
    package let settings: HTTPSettings
    var hosts: HostRules
    let origins: OriginRules
    private let compressedVary: String
    private let proxiedVary: String
    let cacheControl: String
    /// `Vary` of errors: a request of a page that may not ask is answered with one.
    let varyOfErrors: String?
    /// Who may embed an answer without CORS (the Fetch standard's `Cross-Origin-Resource-Policy`).
    let resourcePolicy: StaticString

    init(_ settings: HTTPSettings, hosts: HostRules = HostRules()) {
        self.settings = settings
        self.hosts = hosts.taking(settings.hosts)
        origins = OriginRules(origins: settings.origins)
        compressedVary = origins.areVaried ? "Accept-Encoding, Origin" : "Accept-Encoding"
        proxiedVary = "\(compressedVary), X-Forwarded-Proto"
        varyOfErrors = origins.admitAll ? nil : "Origin"
        resourcePolicy = origins.admitAll ? "cross-origin" : "same-origin"
        let seconds = settings.maxAge
        cacheControl = seconds > 0 ? "public, max-age=\(seconds), stale-while-revalidate=\(seconds)" : "no-cache"
    }

    /// Whether a request may be sent to a host, by its `Host` or `:authority`.
    package func admits(authority text: String?) -> Bool {
        guard let text, let host = HostName(text) else { return false }
        return hosts.admits(host)
    }

    /// `Vary` of answers.
    func vary(_ variation: AnswerPlan.Variation) -> String? {
        switch variation {
        case .none: origins.areVaried ? "Origin" : nil
        case .encoding: compressedVary
        case .encodingAndProtocol: proxiedVary
        }
    }
}

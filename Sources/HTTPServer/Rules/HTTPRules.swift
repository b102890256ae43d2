// SPDX-License-Identifier: MIT
import Tokens

/// The settings in the form in which requests are checked against them.
package struct HTTPRules: Sendable {
    package let settings: HTTPSettings
    var hosts: HostRules
    let origins: OriginRules
    /// Nil if nobody needs a token.
    package let tokens: TokenVerifier?
    private let plainVary: String?
    private let compressedVary: String
    private let proxiedVary: String
    private let negotiatedVary: String
    private let publicCaching: String
    private let privateCaching: String
    /// `Vary` of errors: a request of a page that may not ask is answered with one.
    let varyOfErrors: String?
    /// Who may embed an answer without CORS (the Fetch standard's `Cross-Origin-Resource-Policy`).
    let resourcePolicy: StaticString

    init(_ settings: HTTPSettings, hosts: HostRules = HostRules()) {
        self.settings = settings
        self.hosts = hosts.taking(settings.hosts)
        origins = OriginRules(origins: settings.origins)
        tokens = TokenVerifier(settings.tokens)
        let varied = [origins.areVaried ? "Origin" : nil, tokens == nil ? nil : "Authorization"].compactMap(\.self)
        plainVary = varied.isEmpty ? nil : varied.joined(separator: ", ")
        compressedVary = (["Accept-Encoding"] + varied).joined(separator: ", ")
        negotiatedVary = "Accept, \(compressedVary)"
        proxiedVary = "\(compressedVary), X-Forwarded-Proto"
        varyOfErrors = origins.admitAll ? nil : "Origin"
        resourcePolicy = origins.admitAll ? "cross-origin" : "same-origin"
        let seconds = settings.maxAge
        let age = "max-age=\(seconds), stale-while-revalidate=\(seconds)"
        publicCaching = seconds > 0 ? "public, \(age)" : "no-cache"
        privateCaching = seconds > 0 ? "private, \(age)" : "private, no-cache"
    }

    /// Whether a request may be sent to a host, by its `Host` or `:authority`.
    package func admits(authority text: String?) -> Bool {
        guard let text, let host = HostName(text) else { return false }
        return hosts.admits(host)
    }

    /// `Cache-Control` of answers.
    ///
    /// - Parameter hasRules: whether answers depend on who asks.
    func cacheControl(hasRules: Bool) -> String { hasRules || tokens != nil ? privateCaching : publicCaching }

    /// `Vary` of answers.
    func vary(_ variation: AnswerPlan.Variation) -> String? {
        switch variation {
        case .none: plainVary
        case .encoding: compressedVary
        case .encodingAndMediaType: negotiatedVary
        case .encodingAndProtocol: proxiedVary
        }
    }
}

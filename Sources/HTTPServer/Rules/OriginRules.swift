// SPDX-License-Identifier: MIT

/// Determines which sites' pages may send requests (`http.origins`), and the headers that declare it (the Fetch
/// standard's CORS protocol).
struct OriginRules: Sendable {
    /// Origins such as `https://maps.example`, or `*` for all.
    var origins: [String] = []

    /// How the rules classify a request's origin.
    enum Verdict: Equatable {
        /// The request names no origin, or that of its own host.
        case own
        /// An allowed other site, with the value of `Access-Control-Allow-Origin`.
        case allowed(String)
        case refused
    }

    func verdict(_ origin: String?, host: HostName?) -> Verdict {
        guard let origin else { return .own }
        if isOwn(origin, host) { return .own }
        if admitAll { return .allowed("*") }
        return origins.contains { $0.lowercased() == origin.lowercased() } ? .allowed(origin) : .refused
    }

    /// Whether pages of any site may send requests.
    var admitAll: Bool { origins.contains("*") }

    /// Whether answers other than errors differ by origin.
    var areVaried: Bool { !origins.isEmpty && !admitAll }

    /// Whether a request may be answered that names no origin: a browser sends such requests for links, images and
    /// scripts of any site, and reports only whether the site is another (`Sec-Fetch-Site`, whose unknown values
    /// count as another). A link may lead to the map page, and its content security policy decides who may show it
    /// in a frame.
    func admits(site: String?, mode: String?, path: ArraySlice<UInt8>) -> Bool {
        guard !admitAll, let site, !Self.ownSites.contains(site.lowercased()) else { return true }
        return mode?.lowercased() == "navigate" && path.elementsEqual("/".utf8)
    }

    private static let ownSites = ["same-origin", "same-site", "none"]

    /// The sites whose pages may show the map in a frame, as a content security policy lists them: those of this
    /// machine, such as a notebook's, and `http.origins`. The map only reads, so a frame that deceives its viewer gains
    /// nothing.
    var frames: String {
        if admitAll { return "*" }
        let local = ["'self'", "http://localhost:*", "http://127.0.0.1:*"]
        return (local + origins.filter { $0 != "null" }).joined(separator: " ")
    }

    private func isOwn(_ origin: String, _ host: HostName?) -> Bool {
        let parts = origin.split(separator: ":", maxSplits: 1)
        guard let host, parts.count == 2, parts[1].hasPrefix("//"),
            let authority = HostName(String(parts[1].dropFirst(2)))
        else { return false }
        let scheme = parts[0].lowercased()
        let usual: UInt16? = scheme == "http" ? 80 : scheme == "https" ? 443 : nil
        guard let usual, authority.name == host.name else { return false }
        // A proxy that terminates TLS sends no port, and neither does a browser for the default port.
        return (authority.port ?? usual) == (host.port ?? usual)
    }
}

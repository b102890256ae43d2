// SPDX-License-Identifier: MIT
import ClusterProtocol
import EventLoop
import SystemSupport
import Tokens

/// The settings of the HTTP interface: `http` in the configuration.
public struct HTTPSettings: Sendable, Equatable {
    /// A raster map drawn below the circles instead of the outline of land.
    public struct Basemap: Sendable, Equatable {
        /// A URL with `{z}`, `{x}` and `{y}`.
        public var url: String
        /// The attribution that must be shown with it.
        public var attribution: String

        public init(url: String = "", attribution: String = "") {
            self.url = url
            self.attribution = attribution
        }
    }

    /// The addresses on which it listens; empty if it is off.
    public var listen: [ListenAddress] = []
    /// Whether other machines may connect.
    public var allowRemote = false
    /// Names that `Host` may contain, besides the addresses.
    public var hosts: [String] = []
    /// Other sites whose pages may send requests and show the map in a frame.
    public var origins: [String] = []
    /// The right of callers over TCP.
    public var right = AccessRight.query
    /// The keys of accepted tokens; without any, nobody needs a token.
    public var tokens: [TokenKey] = []
    /// The highest right that a token's claim can give.
    public var tokenRight = AccessRight.query
    /// How long caches may use an answer without revalidation, in seconds; 0: not at all.
    public var maxAge = 0
    /// The directory of Leaflet's files.
    public var assets = Self.bundledLeaflet ?? "/usr/share/javascript/leaflet"
    public var basemap: Basemap?
    /// The file of the access log; nil if there is none.
    public var accessLog: String?
    public var limits = HTTPLimits()

    public init() {}

    /// Leaflet's directory in an installation that brings its own.
    private static var bundledLeaflet: String? {
        Installation.path(of: "leaflet/leaflet.js").map(Installation.parent)
    }

    /// Why settings cannot be used, in words for a person.
    public struct Problem: Error, Sendable, CustomStringConvertible { public let description: String }

    /// Throws if an address can be reached from other machines and that is not allowed.
    public func check() throws(Problem) {
        guard !allowRemote else { return }
        for address in listen {
            guard case .tcp(let host, let port) = address else { continue }
            let found: [InternetAddress]
            do throws(EventLoopError) { found = try InternetAddress.resolve(host: host, port: port) } catch {
                throw Problem(description: error.description)
            }
            guard found.allSatisfy(\.isLoopback) else {
                throw Problem(
                    description:
                        "\(address) is reached by other machines. Let http.allowRemote be true in the configuration, or listen on loopback behind a reverse proxy."
                )
            }
        }
    }

    /// Whether a text is valid in `hosts`.
    public static func isHost(_ text: String) -> Bool { HostName(text) != nil }

    /// Whether a text is valid in `origins`.
    public static func isOrigin(_ text: String) -> Bool {
        if text == "*" || text == "null" { return true }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 3 && ["http:", "https:"].contains(parts[0]) && parts[1].isEmpty
            && HostName(String(parts[2])) != nil
    }
}

// SPDX-License-Identifier: MIT
import ClusterProtocol
import EventLoop

/// How the interface is served: `http` in the configuration.
public struct HTTPSettings: Sendable, Equatable {
    /// A raster map below the circles, instead of the outline of land.
    public struct Basemap: Sendable, Equatable {
        /// A URL with `{z}`, `{x}` and `{y}`.
        public var url: String
        /// What must be shown with it.
        public var attribution: String

        public init(url: String = "", attribution: String = "") {
            self.url = url
            self.attribution = attribution
        }
    }

    /// Where it listens; nowhere if it is empty.
    public var listen: [ListenAddress] = []
    /// Whether other machines may be let in.
    public var allowRemote = false
    /// Names that `Host` may have besides the addresses.
    public var hosts: [String] = []
    /// Other sites whose pages may ask.
    public var origins: [String] = []
    /// What callers over TCP may do.
    public var right = AccessRight.query
    /// For how many seconds caches may use an answer without asking; 0: not at all.
    public var maxAge = 0
    /// Where Leaflet lies.
    public var assets = "/usr/share/javascript/leaflet"
    public var basemap: Basemap?
    /// The file of the access log; nil: there is none.
    public var accessLog: String?
    public var limits = HTTPLimits()

    public init() {}

    /// Why settings cannot be used, for a person.
    public struct Problem: Error, Sendable, CustomStringConvertible {
        public let description: String
    }

    /// Refuses addresses that other machines reach, unless they may.
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

    /// Whether a text can stand in `hosts`.
    public static func isHost(_ text: String) -> Bool { HostName(text) != nil }

    /// Whether a text can stand in `origins`.
    public static func isOrigin(_ text: String) -> Bool {
        if text == "*" { return true }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 3 && ["http:", "https:"].contains(parts[0]) && parts[1].isEmpty
            && HostName(String(parts[2])) != nil
    }
}

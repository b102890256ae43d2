// SPDX-License-Identifier: MIT
import ClusterProtocol
import HTTPDoor

extension HTTPSettings {
    static let members: [ConfigurationMember<HTTPSettings>] =
        [
            ConfigurationMember(
                "listen", .list(.text), isLive: false,
                "Where HTTP is served: \"HOST:PORT\", \"[V6]:PORT\", \"PORT\" on loopback, or \"unix:PATH\". Nowhere by default. Sockets named http that the service manager hands over are added."
            ) { (value, target) throws(Configuration.Problem) in
                for item in value.items {
                    do throws(ListenAddress.Problem) {
                        target.listen.append(try ListenAddress(item.text))
                    } catch {
                        throw item.problem("names no address: \(error.description)")
                    }
                }
            },
            ConfigurationMember(
                "allowRemote", .boolean, isLive: false,
                "Whether addresses may be listened on that other machines reach. False by default: a reverse proxy on this machine adds TLS and logins."
            ) { value, target in target.allowRemote = value.boolean },
            ConfigurationMember(
                "hosts", .list(.text),
                "Names that a request's Host may have besides the addresses, such as \"maps.example\"; with a port only on that."
            ) { (value, target) throws(Configuration.Problem) in
                for item in value.items where !HTTPSettings.isHost(item.text) {
                    throw item.problem("names no host: NAME, NAME:PORT or [V6]:PORT was expected")
                }
                target.hosts = value.items.map(\.text)
            },
            ConfigurationMember(
                "origins", .list(.text),
                "Other sites whose pages may ask (CORS), such as \"https://maps.example\"; \"*\" lets all pages ask."
            ) { (value, target) throws(Configuration.Problem) in
                for item in value.items where !HTTPSettings.isOrigin(item.text) {
                    throw item.problem(
                        "names no origin: \"https://HOST\", \"http://HOST:PORT\" or \"*\" was expected")
                }
                target.origins = value.items.map(\.text)
            },
            ConfigurationMember(
                "right", .oneOf(["query", "manage", "admin"]),
                "What callers over TCP may do. \"query\" by default. Over unix: callers have their own rights."
            ) { value, target in target.right = AccessRight(name: value.text) ?? target.right },
            ConfigurationMember(
                "maxAge", .integer(minimum: 0),
                "For how many seconds caches may use an answer without asking again. 0: they ask each time, and get 304 while nothing has changed."
            ) { value, target in target.maxAge = value.integer },
            ConfigurationMember(
                "assets", .text,
                "The directory of Leaflet, which the map page uses. Debian's package libjs-leaflet fills the default."
            ) { value, target in target.assets = value.text },
            ConfigurationMember(
                "basemap", .members(Basemap.members.map(\.entry)),
                "A raster map below the circles, instead of the outline of land. The browser loads it from where it is."
            ) { (value, target) throws(Configuration.Problem) in
                var basemap = Basemap()
                try value.read(by: Basemap.members, into: &basemap)
                guard !basemap.url.isEmpty else { throw value.problem("names no url") }
                target.basemap = basemap
            },
            ConfigurationMember(
                "accessLog", .text,
                "A file to which each request is written in the combined format. A reload opens it again, after it was renamed to rotate it."
            ) { value, target in target.accessLog = value.text },
        ]
        + HTTPLimits.table.map { limit in
            ConfigurationMember(limit.name, .integer(minimum: Int64(limit.minimum)), limit.help) {
                value, target in
                target.limits[keyPath: limit.place] = value.integer
            }
        }

    /// What holds if a member is not given, as JSON; nil if that is nothing or follows from the help.
    func standard(of name: String) -> String? {
        if let limit = HTTPLimits.table.first(where: { $0.name == name }) {
            return String(limits[keyPath: limit.place])
        }
        return name == "assets" ? "\"\(assets)\"" : nil
    }
}

extension HTTPSettings.Basemap {
    static let members: [ConfigurationMember<HTTPSettings.Basemap>] = [
        ConfigurationMember("url", .text, "The URL of a tile, with {z}, {x} and {y}.") {
            (value, target) throws(Configuration.Problem) in
            guard value.text.hasPrefix("https://") || value.text.hasPrefix("http://") else {
                throw value.problem("names no URL of http or https")
            }
            target.url = value.text
        },
        ConfigurationMember("attribution", .text, "What must be shown with it, as text.") { value, target in
            target.attribution = value.text
        },
    ]
}

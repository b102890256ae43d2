// SPDX-License-Identifier: MIT
import ClusterProtocol
import HTTPServer
import JSON

extension HTTPSettings {
    static let members: [ConfigurationMember<HTTPSettings>] =
        [
            ConfigurationMember(
                "listen", .list(.text), default: .array([]), fixed: .at(\.listen),
                "The addresses of the HTTP interface: \"HOST:PORT\", \"[V6]:PORT\", \"PORT\" on loopback, or \"unix:PATH\", whose socket has socketMode; \"unix:PATH,mode=0660\" has a mode of its own. Sockets named http that the service manager passes are added."
            ) { (value, target) throws(Configuration.Problem) in
                try Configuration.Problem.gathered(value.items) { (item) throws(Configuration.Problem) in
                    do throws(ListenAddress.Problem) {
                        target.listen.append(try ListenAddress(item.text))
                    } catch {
                        throw item.problem("is not an address: \(error.description)")
                    }
                }
            },
            ConfigurationMember(
                "allowRemote", .boolean, default: .bool(standard.allowRemote), fixed: .at(\.allowRemote),
                "Whether it may listen on addresses that other machines reach. Better: a reverse proxy on this machine, which adds TLS and logins."
            ) { value, target in target.allowRemote = value.boolean },
            ConfigurationMember(
                "hosts", .list(.text), default: .array([]),
                "Names that a request's Host may have besides the addresses, such as \"maps.example\"; with a port, only on that port."
            ) { (value, target) throws(Configuration.Problem) in
                for item in value.items where !HTTPSettings.isHost(item.text) {
                    throw item.problem("is not a host: NAME, NAME:PORT or [V6]:PORT was expected")
                }
                target.hosts = value.items.map(\.text)
            },
            ConfigurationMember(
                "origins", .list(.text), default: .array([]),
                "Other sites whose pages may send requests (CORS) and show the map in a frame, such as \"https://maps.example\"; \"*\": all sites; \"null\": pages opened as files, and sandboxed frames of any site."
            ) { (value, target) throws(Configuration.Problem) in
                for item in value.items where !HTTPSettings.isOrigin(item.text) {
                    throw item.problem(
                        "is not an origin: \"https://HOST\", \"http://HOST:PORT\", \"*\" or \"null\" was expected")
                }
                target.origins = value.items.map(\.text)
            },
            ConfigurationMember(
                "right", .oneOf(["query", "manage", "admin"]), default: .string(standard.right.name),
                "What callers over TCP may do. Callers over a Unix socket have their own rights."
            ) { value, target in target.right = AccessRight(name: value.text) ?? target.right },
            ConfigurationMember(
                "tokens", .list(.members(TokenKeyFile.members.map(\.entry))), default: .array([]),
                "The keys that verify tokens (JWT). With any, a request over TCP needs a token, as Authorization: Bearer or in the query parameter access_token; /health does not. A token may have the claim clusterd:right. Unreadable keys reject the configuration."
            ) { (value, target) throws(Configuration.Problem) in
                target.tokens = try TokenKeyFile.read(value)
            },
            ConfigurationMember(
                "tokenRight", .oneOf(["query", "manage", "admin"]), default: .string(standard.tokenRight.name),
                "The highest right that a token's claim clusterd:right can give."
            ) { value, target in target.tokenRight = AccessRight(name: value.text) ?? target.tokenRight },
            ConfigurationMember(
                "maxAge", .integer(minimum: 0), default: .number(Double(standard.maxAge)),
                "For how many seconds caches may use an answer without asking again. 0: they ask each time, and get 304 while nothing has changed."
            ) { value, target in target.maxAge = value.integer },
            ConfigurationMember(
                "assets", .text, default: .string(standard.assets),
                "The directory of Leaflet, which the map page uses. Debian's package libjs-leaflet installs it in the default."
            ) { value, target in target.assets = value.text },
            ConfigurationMember(
                "basemap", .members(Basemap.members.map(\.entry)),
                "A raster map below the circles, instead of the outline of land. The browser loads it from its own server."
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
            ConfigurationMember(
                limit.name, .integer(minimum: Int64(limit.minimum)),
                default: .number(Double(standard.limits[keyPath: limit.keyPath])), limit.help
            ) { value, target in target.limits[keyPath: limit.keyPath] = value.integer }
        }

    private static let standard = HTTPSettings()
}

extension HTTPSettings.Basemap {
    static let members: [ConfigurationMember<HTTPSettings.Basemap>] = [
        ConfigurationMember("url", .text, "The URL of a tile, with {z}, {x} and {y}.") {
            (value, target) throws(Configuration.Problem) in
            guard value.text.hasPrefix("https://") || value.text.hasPrefix("http://") else {
                throw value.problem("is not an http or https URL")
            }
            target.url = value.text
        },
        ConfigurationMember("attribution", .text, "The attribution to show with it, as text.") { value, target in
            target.attribution = value.text
        },
    ]
}

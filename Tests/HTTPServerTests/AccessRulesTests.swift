// SPDX-License-Identifier: MIT
import Testing

@testable import HTTPServer

@Suite("Access rules") struct AccessRulesTests {
    private let rules = HostRules(
        listening: [HostName(name: "127.0.0.1", port: 8080), HostName(name: "[::1]", port: 8080)],
        hosts: [HostName(name: "maps.example", port: nil), HostName(name: "tiles.example", port: 8443)])

    @Test(
        "only known hosts are served",
        arguments: [
            ("127.0.0.1:8080", true), ("127.0.0.1", true), ("127.0.0.1:81", false), ("[::1]:8080", true),
            ("localhost", true),
            ("LOCALHOST:8080", true), ("localhost.", true), ("maps.example", true), ("Maps.Example:9", true),
            ("tiles.example:8443", true), ("tiles.example", true), ("tiles.example:1", false),
            ("evil.example", false),
            ("localhost.evil.example", false), ("127.0.0.2:8080", false), ("maps.example.evil", false),
        ])
    func onlyKnownHostsAreServed(_ host: String, _ isAdmitted: Bool) throws {
        let host = try #require(HostName(host))
        #expect(rules.admits(host) == isAdmitted)
    }

    @Test(
        "malformed hosts are rejected", arguments: ["", "a b", "a:b", "a:99999", "[::1", "[x]", "a/b", "a@b", "[::1]x"])
    func malformedHostsAreNoHosts(_ host: String) { #expect(HostName(host) == nil) }

    @Test("on wildcard addresses only loopback names are served") func onWildcardsOnlyLoopbackNamesAreServed() throws {
        let rules = HostRules(wildcardPorts: [8080])
        for (text, isAdmitted) in [
            ("localhost:8080", true), ("127.0.0.1:8080", true), ("[::1]:8080", true), ("127.0.0.1:1", false),
            ("0.0.0.0:8080", false), ("192.168.0.7:8080", false), ("machine:8080", false),
        ] { #expect(rules.admits(try #require(HostName(text))) == isAdmitted, "\(text)") }
    }

    @Test("same-origin requests are allowed") func ownOriginsAreThoseOfTheHost() {
        let rules = OriginRules()
        func verdict(_ origin: String?, _ host: String) -> OriginRules.Verdict {
            rules.verdict(origin, host: HostName(host))
        }
        #expect(verdict(nil, "a") == .own)
        #expect(verdict("http://localhost:8080", "localhost:8080") == .own)
        #expect(verdict("https://maps.example", "maps.example") == .own)
        #expect(verdict("https://maps.example", "maps.example:443") == .own)
        #expect(verdict("http://localhost:9090", "localhost:8080") == .refused)
        #expect(verdict("http://evil.example", "localhost:8080") == .refused)
        #expect(verdict("null", "localhost:8080") == .refused)
        #expect(verdict("file://localhost:8080", "localhost:8080") == .refused)
    }

    @Test("listed origins are allowed") func listedOriginsAreAllowed() {
        let some = OriginRules(origins: ["https://maps.example"])
        #expect(some.verdict("https://maps.example", host: HostName("a")) == .allowed("https://maps.example"))
        #expect(some.verdict("http://maps.example", host: HostName("a")) == .refused)
        #expect(OriginRules(origins: ["*"]).verdict("https://any.example", host: HostName("a")) == .allowed("*"))
        #expect(OriginRules(origins: ["*"]).verdict("null", host: HostName("a")) == .allowed("*"))
        #expect(OriginRules(origins: ["null"]).verdict("null", host: HostName("a")) == .allowed("null"))
        for text in ["null", "*", "https://maps.example"] { #expect(HTTPSettings.isOrigin(text), "\(text)") }
        for text in ["", "maps.example", "file:///x", "https://maps.example/"] {
            #expect(!HTTPSettings.isOrigin(text), "\(text)")
        }
    }

    @Test("a request of another site without an origin is admitted only as a link to the map")
    func crossSiteRequestsWithoutOrigin() {
        let map = Array("/".utf8)[...]
        let sources = Array("/sources".utf8)[...]
        let rules = OriginRules(origins: ["https://maps.example"])
        for site in [nil, "none", "same-origin", "same-site"] {
            #expect(rules.admits(site: site, mode: "no-cors", path: sources), "\(site ?? "no field")")
        }
        for mode in [nil, "no-cors", "cors", "navigate", "websocket"] {
            #expect(!rules.admits(site: "cross-site", mode: mode, path: sources), "\(mode ?? "no field")")
            for site in ["Cross-Site", "cross-site, cross-site", "none, cross-site", ""] {
                #expect(!rules.admits(site: site, mode: mode, path: sources), "\(site), \(mode ?? "no field")")
            }
            #expect(
                rules.admits(site: "cross-site", mode: mode, path: map) == (mode == "navigate"),
                "\(mode ?? "no field")")
        }
        #expect(OriginRules(origins: ["*"]).admits(site: "cross-site", mode: "no-cors", path: sources))
    }

    @Test("pages of this machine and of listed origins may show the map in a frame") func frames() {
        let local = "'self' http://localhost:* http://127.0.0.1:*"
        #expect(OriginRules().frames == local)
        #expect(OriginRules(origins: ["null", "https://maps.example"]).frames == local + " https://maps.example")
        #expect(OriginRules(origins: ["null", "*"]).frames == "*")
    }

    @Test("addresses are read") func addressesAreRead() throws {
        #expect(try ListenAddress("8080") == .tcp(host: "127.0.0.1", port: 8080))
        #expect(try ListenAddress("0.0.0.0:80") == .tcp(host: "0.0.0.0", port: 80))
        #expect(try ListenAddress("[::1]:80") == .tcp(host: "::1", port: 80))
        #expect(try ListenAddress("localhost:0") == .tcp(host: "localhost", port: 0))
        #expect(try ListenAddress("unix:/run/a b.sock") == .unix(path: "/run/a b.sock", mode: nil))
        #expect(try ListenAddress("unix:/run/a,b,mode=0660") == .unix(path: "/run/a,b", mode: 0o660))
        for text in [
            "", "x", "::1:80", "[::1]", "host:", "host:70000", "unix:", "http://a:1", "unix:,mode=0660",
            "unix:/a,mode=0777",
        ] {
            #expect(throws: ListenAddress.Problem.self) { try ListenAddress(text) }
        }
    }
}

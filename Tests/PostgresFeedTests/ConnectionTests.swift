// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@testable import PostgresFeed

/// Connections to a server that this test plays itself: it accepts them, and then is silent.
@Suite(
    "Connections to a silent server",
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.missing)))
struct ConnectionTests {
    private let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    private let connection: String

    init() throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let status = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) | listen(listener, 8) | getsockname(listener, $0, &length)
            }
        }
        try #require(status == 0)
        let port = UInt16(bigEndian: address.sin_port)
        connection = "host=127.0.0.1 port=\(port) user=u dbname=d sslmode=disable gssencmode=disable"
    }

    private func option(_ name: Int32, of descriptor: Int32) -> Int32 {
        var (value, length): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
        getsockopt(descriptor, Int32(IPPROTO_TCP), name, &value, &length)
        return value
    }

    @Test("a lost network is detected within the connection string's timeouts") func keepalives() throws {
        defer { close(listener) }
        let standard = try ConnectionHandle(connection, isReplication: true)
        #expect(option(TCP_KEEPIDLE, of: standard.descriptor) == 30)
        #expect(option(TCP_KEEPINTVL, of: standard.descriptor) == 10)
        #expect(option(TCP_KEEPCNT, of: standard.descriptor) == 3)
        #expect(option(TCP_USER_TIMEOUT, of: standard.descriptor) == 60_000)
        let own = try ConnectionHandle(connection + " keepalives_idle=7 tcp_user_timeout=9000", isReplication: false)
        #expect(option(TCP_KEEPIDLE, of: own.descriptor) == 7)
        #expect(option(TCP_USER_TIMEOUT, of: own.descriptor) == 9000)
    }

    /// Accepts a connection and its user, and then answers nothing.
    private static func serve(_ listener: Int32) {
        let peer = accept(listener, nil, nil)
        var request = [UInt8](repeating: 0, count: 1024)
        _ = read(peer, &request, request.count)
        // AuthenticationOk and ReadyForQuery.
        let welcome: [UInt8] = [0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5A, 0, 0, 0, 5, 0x49]
        _ = write(peer, welcome, welcome.count)
        while read(peer, &request, request.count) > 0 {}
        close(peer)
    }

    @Test("a check ends if the server does not answer its query") func checkEnds() throws {
        let listener = listener
        let server = Thread { Self.serve(listener) }
        server.start()
        let found = try TableCheck.run(TableFeedConfiguration(connection: connection, table: "t"), within: 2000)
        close(listener)
        #expect(found.problems.map(\.kind) == [.connection])
        #expect(found.columns == nil)
        #expect(found.problems.description.contains("did not answer within 2 s"))
    }

    @Test(
        "a password is hidden, and other words stay readable",
        arguments: [
            ("secret", "invalid: \"secret\"", "invalid: \"***\""), ("secret", "secret secret", "*** ***"),
            ("r", "the server is full for r", "the server is full for ***"),
            ("", "no password", "no password"),
            ("reader", "refused for user \"reader\"", "refused for user \"reader\""),
            ("p_", "p_p_ p_", "p_p_ ***"),
        ])
    func secrets(_ password: String, _ text: String, _ expected: String) {
        #expect(SecretText.hide(password, in: text, user: "reader") == expected)
    }

    @Test("for a server without free connections the error says which setting to raise") func noConnectionLeft() {
        let error = PostgresError(
            "FATAL:  number of requested standby connections exceeds max_wal_senders (currently 10)")
        let explained = error.explained.description
        #expect(explained.hasPrefix(error.message))
        #expect(explained.contains("SET max_wal_senders = 20;"))
        #expect(PostgresError("refused").explained == PostgresError("refused"))
    }

    @Test("a publication's name is cut where the server cuts it")
    func publicationName() {
        func name(_ table: String) -> String {
            TableFeedConfiguration(connection: "", table: table).publicationName
        }
        #expect(name("stations") == "clusterd_stations")
        let long = String(repeating: "é", count: 40)
        #expect(name(long) == "clusterd_" + String(repeating: "é", count: 27))
        #expect(name("a" + long) == "clusterd_a" + String(repeating: "é", count: 26))
        #expect(name(String(repeating: "a", count: 90)).utf8.count == 63)
    }
}

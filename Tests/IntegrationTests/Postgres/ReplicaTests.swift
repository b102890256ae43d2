// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

/// Several daemons that follow one table.
@Suite("Replicas of a table", .enabled(if: PostgresServer.isInstalled, "\(PostgresServer.missing)"))
struct ReplicaTests {
    @Test("an app reads its own writes through any daemon")
    func ownWrites() throws {
        let table = try VehicleTable(rows: 50)
        let daemons = try (0..<2).map { _ in try TableDaemon(table.connection) }
        for daemon in daemons { try daemon.wait(for: "following") }
        for number in 1...20 {
            let position = try table.write(
                "INSERT INTO vehicles VALUES (\(1000 + number), 'own', 1, \(VehicleTable.place("\(number)")))")
            let ids = try daemons[number % 2].ids(atLeast: position)
            #expect(ids.contains("\(1000 + number)"))
        }
    }

    /// The answers of daemons at one position; the server's log moves on by itself now and then, so they are asked
    /// again until all have the same.
    private func seen(by daemons: [TableDaemon], atLeast position: String) throws -> [String] {
        var texts: [String] = []
        for _ in 0..<100 {
            let answers = try daemons.map { try $0.seen(atLeast: position) }
            texts = answers.map(\.text)
            if Set(answers.map(\.position)).count == 1 { break }
        }
        return texts
    }

    private static let cases: [(options: String, seed: UInt32)] = [
        (TableDaemon.options, 1),
        (
            #"{"radius":80,"sortKey":["id"],"clusterIds":"origin","clusterProperties":{"sum":["+",["get","speed"]],"most":["max",["get","speed"]]},"filter":["!=",["get","speed"],13]}"#,
            2
        ),
    ]

    @Test("daemons at the same position give the same answers, whatever they received and when", arguments: cases)
    func agreement(_ options: String, _ seed: UInt32) throws {
        let table = try VehicleTable(rows: 400)
        var random = PythonRandom(seed: seed)
        let daemons = try (0..<2).map { _ in try TableDaemon(table.connection, options: options) }
        try daemons[0].wait(for: "following")
        for round in 0..<12 {
            for _ in 0..<Int(random.uniform(1, 6)) { try table.sql(transaction(&random)) }
            if round == 6 { try daemons[1].restart() }
            if round == 9 { try daemons[0].restart(SIGTERM) }
            // One reads each round, the other lets them gather.
            if round % 4 != 3 { _ = try daemons[0].clusters(0, atLeast: table.position()) }
        }
        let fresh = try TableDaemon(table.connection, keepsState: false, options: options)
        try fresh.wait(for: "following")
        let texts = try seen(by: daemons + [fresh], atLeast: table.position())
        #expect(texts.count == 3)
        #expect(Set(texts).count == 1)
        #expect(texts.first?.contains("point_count") == true)
    }

    private func transaction(_ random: inout PythonRandom) -> String {
        func id() -> Int { Int(random.uniform(1, 900)) }
        var statements: [String] = []
        for _ in 0..<Int(random.uniform(1, 8)) {
            let (a, b) = (id(), id())
            let place = VehicleTable.place("\(a * 31 + b)")
            switch Int(random.uniform(0, 8)) {
            case 0, 1:
                statements.append(
                    "INSERT INTO vehicles VALUES (\(a), 'v\(b)', \(b % 50), \(place)) ON CONFLICT (vehicle_id) DO UPDATE SET geom = EXCLUDED.geom, name = EXCLUDED.name"
                )
            case 2, 3:
                statements.append(
                    "UPDATE vehicles SET geom = \(place), speed = \(b % 50) WHERE vehicle_id BETWEEN \(a) AND \(a + 5)")
            case 4: statements.append("DELETE FROM vehicles WHERE vehicle_id BETWEEN \(a) AND \(a + 3)")
            case 5:
                statements.append(
                    "UPDATE vehicles SET vehicle_id = \(a + 1000) WHERE vehicle_id = \(a) AND NOT EXISTS (SELECT FROM vehicles WHERE vehicle_id = \(a + 1000))"
                )
            case 6:
                statements.append(
                    "UPDATE vehicles SET geom = \(b % 2 == 0 ? "NULL" : place) WHERE vehicle_id BETWEEN \(a) AND \(a + 1)"
                )
            default:
                statements.append(
                    b % 40 == 0
                        ? "TRUNCATE vehicles; INSERT INTO vehicles SELECT i, 'again', 1, \(VehicleTable.place("i")) FROM generate_series(1, 300) i"
                        : "SAVEPOINT s; DELETE FROM vehicles WHERE vehicle_id > \(a); ROLLBACK TO s")
            }
        }
        return "BEGIN; \(statements.joined(separator: "; ")); COMMIT"
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@Suite("The tests' server", .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.missing)))
struct ServerTests {
    @Test("A server starts, answers, stops, starts again with its data, and leaves nothing behind")
    func lives() throws {
        let folder: String
        do {
            let server = try PostgresServer()
            folder = server.folder
            let database = try server.makeDatabase()
            #expect(try server.sql("SHOW wal_level") == "logical")
            try server.sql("CREATE TABLE t (id int); INSERT INTO t VALUES (1), (2)", in: database)
            try server.stop(.immediate)
            #expect(throws: (any Error).self) { try server.sql("SELECT 1") }
            try server.start()
            #expect(try server.sql("SELECT count(*) FROM t", in: database) == "2")
            #expect(try server.sql("SELECT ST_AsText(ST_Point(1, 2))", in: database) == "POINT(1 2)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder))
    }
}

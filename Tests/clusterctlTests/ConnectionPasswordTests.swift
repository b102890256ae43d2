// SPDX-License-Identifier: MIT
import Testing

@testable import clusterctl

@Suite("Passwords in connection strings") struct ConnectionPasswordTests {
    @Test(
        "are found",
        arguments: [
            ("host=db password=x", true), ("password = 'x y'", true), ("postgresql://ann:x@db/gis", true),
            ("postgres://db/gis?password=x", true), ("service=fleet", false), ("host=db user=password", false),
            ("postgresql://ann@db:5432/gis", false), ("host=db passfile=/run/pgpass", false),
            ("postgresql://db:5432/a@b", false), ("host=db sslpassword=x", false),
        ])
    func passwords(connection: String, hasPassword: Bool) {
        #expect(PostgresCommand.hasPassword(connection) == hasPassword)
    }
}

// SPDX-License-Identifier: MIT
import JSON
import PostgresFeed
import SourceEngine
import Testing

@testable import Daemon

/// What the configuration says of a table that a source follows.
@Suite("Postgres settings") struct PostgresSettingsTests {
    private func source(_ members: String) throws -> DeclaredSource {
        var configuration = Configuration()
        try configuration.read(Array("{\"sources\":{\"vehicles\":{\(members)}}}".utf8))
        return try #require(configuration.sources.first)
    }

    private func problem(_ members: String) -> String {
        do { return "none: \(try source(members))" } catch { return "\(error)" }
    }

    @Test("all members are read") func allMembersAreRead() throws {
        let settings = try #require(
            try source(
                """
                "postgres":{"connection":"service=fleet","table":"public.vehicles","id":"vehicle_id","geometry":"geom",
                "properties":["name","kind"],"slot":"clusterd_vehicles","publication":"vehicles","temporary":true}
                """
            ).postgres)
        let feed = settings.feed(of: "vehicles", stateDirectory: "/state")
        #expect(feed.connection == "service=fleet")
        #expect(feed.qualifiedTable == "\"public\".\"vehicles\"")
        #expect(feed.id == "vehicle_id" && feed.geometry == .column("geom"))
        #expect(feed.properties == ["name", "kind"])
        #expect(feed.isTemporary)
        #expect(feed.slotName == "clusterd_vehicles")
        #expect(feed.publicationName == "vehicles")
        #expect(feed.spoolDirectory == "/state")
    }

    @Test("most settings have defaults from the table") func mostFollowsFromTheTable() throws {
        let settings = try #require(try source(#""postgres":{"connection":"c","table":"t"}"#).postgres)
        #expect(settings == TableFeedConfiguration(connection: "c", table: "t"))
        let columns = try #require(
            try source(
                #""postgres":{"connection":"c","table":"t","geometry":{"longitude":"x","latitude":"y"}}"#
            ).postgres)
        #expect(columns.geometry == .coordinates(longitude: "x", latitude: "y"))
    }

    @Test("slots of daemons on one machine differ") func slotsOfOneMachineDiffer() throws {
        let settings = try #require(try source(#""postgres":{"connection":"c","table":"t"}"#).postgres)
        let names = [("a", "/1"), ("a", "/2"), ("b", "/1"), ("b", nil)].map {
            settings.feed(of: $0, stateDirectory: $1).slotName
        }
        #expect(Set(names).count == 4)
    }

    @Test(
        "invalid settings are named",
        arguments: [
            (#""postgres":{"table":"t"}"#, "sources.vehicles.postgres must have connection"),
            (#""postgres":{"connection":"c"}"#, "must have table"),
            (#""postgres":{"connection":"c","table":5}"#, "postgres.table must be a string"),
            (
                #""postgres":{"connection":"c","table":"t","geometry":5}"#,
                "geometry must be a string or an object"
            ),
            (
                #""postgres":{"connection":"c","table":"t","geometry":{"longitude":"x"}}"#,
                "must have latitude"
            ),
            (#""postgres":{"connection":"c","table":"t","slot":"A-b"}"#, "lower-case letters"),
            (#""postgres":{"connection":"c","table":"t","slots":"a"}"#, "slots is unknown"),
            (#""postgres":{"connection":"c","table":"t"},"file":"/f""#, "both file and postgres"),
            (#""postgres":{"connection":"c","table":"t"},"options":{"promoteId":"x"}"#, "options.promoteId"),
            (#""postgres":{"connection":"c","table":"t"},"options":{"ttlSeconds":5}"#, "options.ttlSeconds"),
            (
                #""postgres":{"connection":"c","table":"t"},"options":{"projection":{"planar":[0,0,1,1]}}"#,
                "options.projection"
            ),
        ])
    func faultsAreNamed(_ members: String, _ message: String) {
        #expect(problem(members).contains(message))
    }

    @Test("no message contains the connection string") func noMessageHasTheConnection() {
        let problem = problem(#""postgres":{"connection":"password=hunter2","table":"t","slot":"X"}"#)
        #expect(problem.contains("slot"))
        #expect(!problem.contains("hunter2"))
    }

    /// Data are copied again if rows become features in another way, not if only the way to the server changes.
    @Test("the origin says how rows become features") func theOriginSaysHowRowsBecomeFeatures() throws {
        func origin(_ settings: String, _ options: String = "{}") throws -> String {
            let postgres = #""postgres":{"connection":"c","table":"t"\#(settings)}"#
            let source = try source(postgres)
            return try #require(source.postgres).origin(options: SourceOptions(reading: JSONReader.parse(options)))
        }
        let plain = try origin("")
        #expect(try origin(#","slot":"a","publication":"b","temporary":true"#) == plain)
        #expect(try origin(#","id":"a""#) != plain)
        #expect(try origin(#","geometry":"g""#) != plain)
        #expect(try origin(#","properties":["a"]"#) != plain)
        #expect(try origin("", #"{"radius":60}"#) != plain)
    }
}

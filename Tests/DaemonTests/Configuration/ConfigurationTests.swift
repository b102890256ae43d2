// SPDX-License-Identifier: MIT
import GeoJSON
import Testing

@testable import RPC
@testable import Daemon

@Suite("Configuration") struct ConfigurationTests {
    private func problem(_ text: String) -> String? {
        var configuration = Configuration()
        do throws(Configuration.Problem) { try configuration.read(Array(text.utf8)) } catch {
            #expect(configuration == Configuration())
            return error.description
        }
        return nil
    }

    private func configuration(_ text: String) throws -> Configuration {
        var configuration = Configuration()
        try configuration.read(Array(text.utf8))
        return configuration
    }

    @Test("a file sets what it names") func aFileSetsWhatItNames() throws {
        let configuration = try configuration(
            """
            {"socket":"/s","state":"/d","importDirectories":["/a","/b"],
             "log":{"level":"debug","format":"json","slowCallMs":5},
             "limits":{"maxCalls":5,"shutdownGraceMs":0},
             "sources":{"b":{"file":"/b.geojson","watch":false,"onInvalid":"skip"},"a":{"options":{"radius":60}}}}
            """)
        #expect(configuration.socket == "/s")
        #expect(configuration.stateDirectory == "/d")
        #expect(configuration.importDirectories == ["/a", "/b"])
        #expect(configuration.log.level == .debug)
        #expect(configuration.log.format == .json)
        #expect(configuration.log.slowCallMs == 5)
        #expect(configuration.limits.maxCalls == 5)
        #expect(configuration.limits.shutdownGraceMs == 0)
        #expect(configuration.limits.maxConnections == Limits().maxConnections)
        #expect(configuration.sources.map(\.name.text) == ["b", "a"])
        #expect(configuration.sources[0].file == "/b.geojson")
        #expect(!configuration.sources[0].watches && configuration.sources[0].skipsInvalid)
        #expect(configuration.sources[1].watches && !configuration.sources[1].skipsInvalid)
        #expect(configuration.sources[1].options == ["radius": 60])
    }

    @Test("declared tables have the columns of imports") func declaredTablesHaveTheColumnsOfImports() throws {
        let declared = try configuration(
            #"{"sources":{"a":{"file":"/a.csv","longitude":"x1","latitude":"y1","id":"code","delimiter":"tab","text":["zip"],"wrap":true}}}"#
        ).sources[0]
        #expect(
            declared.columns
                == TableColumns(
                    longitude: "x1", latitude: "y1", id: "code", delimiter: UInt8(ascii: "\t"), text: ["zip"]))
        #expect(declared.wrapsLongitudes)
    }

    @Test("rules name users and groups") func rulesNameUsersAndGroups() throws {
        let access = try configuration(
            #"{"access":{"query":{"users":[7]},"manage":{"users":["root",1001],"groups":["root"]},"admin":{"users":["*"]}}}"#
        ).access
        #expect(!access.query.everybody)
        #expect(access.query.users == [7])
        #expect(access.manage.users == [0, 1001])
        #expect(access.manage.groups == [0])
        #expect(access.admin.everybody)
        #expect(try configuration("{}").access.query.everybody)
    }

    @Test(
        "an invalid member is named",
        arguments: [
            (#"{"sokcet":"/s"}"#, "line 1, column 2: sokcet is unknown"),
            (#"{"socket":1}"#, "line 1, column 11: socket must be a string"), (#"{"socket":""}"#, "socket"),
            ("{\"socket\":\"/s\",\n \"socket\":\"/t\"}", "line 2, column 2: socket is given twice"),
            (#"{"importDirectories":["/a",2]}"#, "column 28: importDirectories[1]"),
            (
                #"{"sources":{"a":{"file":"/a.csv","delimiter":"xy"}}}"#,
                "sources.a.delimiter must be one of"
            ),
            (#"{"log":{"level":"loud"}}"#, "log.level must be one of error, warning"),
            (#"{"log":{"format":"xml"}}"#, "log.format"),
            ("{\n\"limits\": {\n  \"maxCalls\": 0}}", "line 3, column 15: limits.maxCalls"),
            (#"{"limits":{"maxCalls":1.5}}"#, "limits.maxCalls"),
            (#"{"limits":{"maxCalls":1e300}}"#, "limits.maxCalls"),
            (#"{"limits":{"maxCalls":-1}}"#, "limits.maxCalls"),
            (#"{"limits":{"maxCalls":"5"}}"#, "limits.maxCalls"),
            (#"{"limits":{"more":1}}"#, "limits.more"), (#"{"socket":"/s","limits":[]}"#, "limits"),
            (#"{"access":{"query":{"users":[4294967295]}}}"#, "access.query.users[0]"),
            (#"{"access":{"query":{"users":[-2]}}}"#, "access.query.users[0]"),
            (#"{"access":{"query":{"users":[true]}}}"#, "access.query.users[0]"),
            (#"{"access":{"queries":{}}}"#, "access.queries is unknown; known are query, manage, admin"),
            (#"{"sources":{"a b":{}}}"#, "not a source's name"),
            (#"{"sources":{"a":[]}}"#, "sources.a must be an object"),
            (#"{"sources":{"a":{},"a":{}}}"#, "sources.a is given twice"),
            (#"{"sources":{"a":{"options":{"radius":-1}}}}"#, "sources.a.options.radius"),
            (#"{"sources":{"a":{"options":{"filter":["=="]}}}}"#, "sources.a.options.filter"),
            (#"{"sources":{"a":{"watch":1}}}"#, "sources.a.watch must be true or false"),
            ("[]", "the configuration must be an object"), ("", "empty"), ("{}}", "line 1"),
        ])
    func whatIsWrongIsNamed(_ text: String, _ name: String) throws {
        let problem = try #require(self.problem(text))
        #expect(problem.contains(name), "\(problem)")
        #expect(problem.hasPrefix("line "))
    }

    @Test("all mistakes are reported at once, in the order of the file") func allMistakes() throws {
        let problem = try #require(
            self.problem(
                """
                {"sokcet": "/s",
                 "http": {"listen": ["nowhere:x", "127.0.0.1:80", "8o8o"], "hosts": 1},
                 "limits": {"maxCalls": 0, "more": 1},
                 "sources": {"a b": {}, "c": {"watch": 1, "options": {"radius": -1}}, "d": {"postgres": {}}}}
                """))
        let lines = problem.split(separator: "\n")
        let expected = [
            "line 1, column 2: sokcet", "line 2, column 22: http.listen[0]",
            "line 2, column 51: http.listen[2]",
            "line 2, column 69: http.hosts", "line 3, column 25: limits.maxCalls",
            "line 3, column 28: limits.more",
            "line 4, column 14: sources", "line 4, column 40: sources.c.watch",
            "line 4, column 54: sources.c.options.radius", "line 4, column 89: sources.d.postgres must have connection",
            "line 4, column 89: sources.d.postgres must have table",
        ]
        #expect(lines.count == expected.count, "\(problem)")
        for (line, start) in zip(lines, expected) { #expect(line.hasPrefix(start), "\(line)") }
    }

    @Test("of many mistakes the rest is counted") func manyMistakes() throws {
        let members = (0..<60).map { #""m\#($0)":1"# }.joined(separator: ",")
        let lines = try #require(problem("{\(members)}")).split(separator: "\n")
        #expect(lines.count == 51)
        #expect(lines.last == "and 10 more")
    }

    @Test("a syntax error is reported with line and column")
    func aSlipOfThePenIsFoundByLineAndColumn() throws {
        #expect(
            try #require(problem("{\n  \"socket\": \"/s\",\n  \"state\": }")).hasPrefix("line 3, column "))
        #expect(try #require(problem("{\"é\":1}")).hasPrefix("line 1, column 2:"))
        #expect(try #require(problem("{\"sources\":{\"é\":1}}")).hasPrefix("line 1, column 13:"))
        #expect(try #require(problem("{\"socket\":\"é\",\"more\":1}")).hasPrefix("line 1, column 15:"))
    }

    @Test("every reported limit can be configured") func everyLimitThatIsToldCanBeSet() throws {
        for (name, _) in Limits().json.members {
            let configuration = try configuration(#"{"limits":{"\#(name)":77}}"#)
            #expect(configuration.limits.json[name] == .number(77))
        }
    }

    @Test("a reload keeps what only a restart changes") func aReloadKeepsWhatHoldsFromStartToEnd() throws {
        let old = try configuration(#"{"socket":"/a","limits":{"maxCalls":5,"queryThreads":3}}"#)
        let new = try configuration(
            #"{"socket":"/b","socketMode":"0660","state":"/d","http":{"listen":["unix:/h"],"maxAge":7},"#
                + #""limits":{"maxCalls":6,"queryThreads":4}}"#)
        let changed = ["socket", "socketMode", "state", "http.listen", "limits.queryThreads"]
        #expect(old.membersFixedBut(changedIn: new) == changed)
        let kept = new.keepingFixed(of: old)
        #expect(kept.socket == "/a")
        #expect(kept.socketMode == old.socketMode)
        #expect(kept.stateDirectory == nil)
        #expect(kept.http.listen.isEmpty)
        #expect(kept.http.maxAge == 7)
        #expect(kept.limits.maxCalls == 6)
        #expect(kept.limits.queryThreads == 3)
        #expect(kept.membersFixedBut(changedIn: new) == changed)
        #expect(old.membersFixedBut(changedIn: kept).isEmpty)
    }

    /// Whatever the bytes are, they are taken or refused with a place within them.
    @Test("random text is rejected without a crash") func noTextIsTooOdd() {
        let text = Array(
            #"{"socket":"/s","limits":{"maxCalls":5},"access":{"query":{"users":["*",7],"groups":[1]}},"sources":{"a":{"options":{"radius":["step",["zoom"],1,2,3]},"file":"/é"}}}"#
                .utf8)
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<4000 {
            var bytes = text
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(contentsOf: bytes[place...].prefix(9), at: place)
                default: bytes.insert("0123456789-eE{}[]\",:".utf8.randomElement(using: &generator) ?? 0, at: place)
                }
            }
            var configuration = Configuration()
            do throws(Configuration.Problem) { try configuration.read(bytes) } catch {
                #expect(configuration == Configuration())
                #expect(error.description.hasPrefix("line "), "\(bytes)")
            }
        }
    }

    @Test("an unknown user is a warning and grants nothing") func anUnknownUserIsAWarningAndGivesNobodyARight() throws {
        var configuration = Configuration()
        try configuration.read(
            Array(
                #"{"access":{"query":{"users":["no-such-user-here",7]},"admin":{"groups":["no-such-group-x"]}}}"#
                    .utf8))
        #expect(configuration.access.query.users == [7])
        #expect(!configuration.access.query.everybody)
        #expect(configuration.access.admin.groups.isEmpty)
        let warnings = configuration.warnings
        #expect(warnings.contains { $0.contains("access.query.users[0]") && $0.contains("no-such-user-here") })
        #expect(warnings.contains { $0.contains("access.admin.groups[0]") && $0.contains("no-such-group-x") })
    }
}

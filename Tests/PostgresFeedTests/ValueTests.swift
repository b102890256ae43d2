// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

@testable import PostgresFeed

/// Each value comes by a copy, by an INSERT and by an UPDATE, and is compared with what the server's
/// `to_jsonb` gives.
@Suite("SQL values as JSON", .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.missing)))
struct ValueTests {
    private static let types = """
        CREATE EXTENSION hstore; CREATE EXTENSION citext;
        CREATE TYPE mood AS ENUM ('sad', 'so so', 'happy "ü"');
        CREATE DOMAIN positive AS int CHECK (VALUE > 0);
        CREATE DOMAIN flag AS boolean;
        CREATE TYPE part AS (zz text, a int, "Q" mood, b boolean, at timestamptz);
        CREATE TYPE whole AS (parts part[], j jsonb, p part, d positive);
        CREATE TYPE span AS RANGE (subtype = float8);
        """

    /// A type and values of it as SQL expressions.
    static let cases: [(type: String, values: [String])] = [
        ("boolean", ["true", "false"]), ("flag", ["true", "false"]), ("smallint", ["0", "-32768", "32767"]),
        ("integer", ["2147483647", "-2147483648"]),
        ("bigint", ["9223372036854775807", "-9223372036854775808", "9007199254740993"]), ("positive", ["1", "77"]),
        (
            "double precision",
            [
                "0", "'-0'", "1.5", "1e20", "-1e20", "1.7976931348623157e308", "5e-324",
                "2.2250738585072014e-308", "1e-7",
                "123456.789e3", "'NaN'", "'Infinity'", "'-Infinity'", "0.1", "1e15", "1e16",
                "123456789012345678",
                "-1.25e-5", "1e22", "9007199254740993",
            ]
        ),
        ("real", ["1.1", "1e10", "3.4028235e38", "1e-45", "'NaN'", "16777216", "-0.00001"]),
        (
            "numeric",
            [
                "0", "1.50", "-0.00", "12345678901234567890123456789012345678901234567890.123", "'NaN'", "'Infinity'",
                "1e-30", "1e40", "'-Infinity'",
            ]
        ),
        ("numeric(10,3)", ["1.5", "-7"]),
        ("money", ["12.34", "-5"]),
        (
            "text",
            [
                "''", "'a \"quoted\" \\ text'", "E'line\\nend\\ttab\\r\\b\\f\\x01'", "'ü 漢字 🙂'", "'NULL'",
                "'{}'",
            ]
        ),
        ("varchar(20)", ["'abc'", "'  blanks  '"]),
        ("char(5)", ["'ab'", "''"]),
        ("\"char\"", ["'x'"]),
        ("name", ["'a name'"]),
        ("citext", ["'MiXed'"]),
        ("uuid", ["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"]),
        ("bytea", ["'\\x'", "'\\xdeadbeef'"]),
        ("json", ["'{\"b\" : 1,\n \"a\": [1, 2.50, null], \"b\": 2}'", "'null'", "'[]'", "'\"x\"'", "'1e5'"]),
        ("jsonb", ["'{\"bb\": {\"x\": 1e3}, \"a\": [true, \"\\u00fc\"]}'", "'null'", "'-0.50'"]),
        (
            "timestamp",
            [
                "'2026-01-31 12:34:56'", "'2026-01-31 12:34:56.789'", "'infinity'", "'-infinity'",
                "'0044-03-15 01:02:03 BC'", "'294276-12-31 23:59:59.999999'",
            ]
        ),
        (
            "timestamptz",
            [
                "'2026-01-31 12:34:56+05:30'", "'2026-01-31 12:34:56.000001Z'", "'infinity'", "'-infinity'",
                "'0044-03-15 01:02:03+00 BC'", "'1800-01-01 00:00:00+00'",
            ]
        ),
        ("date", ["'2026-01-31'", "'infinity'", "'-infinity'", "'0044-03-15 BC'", "'5874897-12-31'"]),
        ("time", ["'12:34:56.5'", "'24:00:00'"]),
        ("timetz", ["'12:34:56+05:30'"]),
        ("interval", ["'1 year 2 months 3 days 04:05:06.7'", "'-1 day'", "'0'"]),
        ("inet", ["'10.0.0.1'", "'10.0.0.0/8'", "'::1'"]),
        ("cidr", ["'10.0.0.0/8'"]),
        ("macaddr", ["'08:00:2b:01:02:03'"]),
        ("bit(3)", ["B'101'"]),
        ("varbit", ["B'1'"]),
        ("xml", ["'<a>1</a>'"]),
        ("tsvector", ["'a fat cat'"]),
        ("point", ["'(1,2)'"]),
        ("box", ["'(1,2),(3,4)'"]),
        ("oid", ["4294967295"]),
        ("regclass", ["'pg_class'"]),
        ("pg_lsn", ["'0/16B3748'"]),
        ("int4range", ["'[1,5)'", "'empty'"]),
        ("span", ["'[1.5,)'"]),
        ("mood", ["'sad'", "'happy \"ü\"'"]),
        ("int[]", ["'{}'", "'{1,NULL,3}'", "'{{1,2},{3,4}}'", "'[0:1]={5,6}'", "'{{{1}},{{2}}}'"]),
        ("float8[]", ["'{1e20,NaN,-0,0.1}'"]),
        ("boolean[]", ["'{t,f,NULL}'"]),
        (
            "text[]",
            [
                "ARRAY['a', 'NULL', NULL, '', 'b \"c\" \\ {d}, e', 'ü']", "'{}'",
                "ARRAY[ARRAY['x,y'], ARRAY['null']]",
            ]
        ),
        ("numeric[]", ["'{1.50,NaN}'"]),
        ("timestamptz[]", ["ARRAY['2026-01-31 12:34:56+05:30'::timestamptz, 'infinity', NULL]"]),
        ("jsonb[]", ["ARRAY['{\"a\": \"x,y\"}'::jsonb, 'null', NULL]"]),
        ("json[]", ["ARRAY['{\"a\" : 1}'::json]"]),
        ("box[]", ["ARRAY['(1,2),(3,4)'::box, '(5,6),(7,8)']"]),
        ("mood[]", ["ARRAY['so so', 'sad', NULL]::mood[]"]),
        ("positive[]", ["'{1,2}'"]),
        ("uuid[]", ["ARRAY['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid]"]),
        ("int2vector", ["'1 2 3'"]),
        (
            "part",
            [
                "ROW('a, \"b\" (c) \\ d', 1, 'so so', true, '2026-01-31 12:00Z')", "ROW(NULL, NULL, NULL, NULL, NULL)",
                "ROW('', -5, 'sad', false, 'infinity')",
            ]
        ),
        (
            "whole",
            [
                "ROW(ARRAY[ROW('x', 1, 'sad', true, '2026-01-31 12:00Z')::part, NULL, ROW('\"{,}\\', NULL, NULL, NULL, NULL)::part], "
                    + "'{\"k\": [1]}', ROW('p', 2, 'sad', false, NULL), 3)"
            ]
        ),
        ("part[]", ["ARRAY[ROW('x y', 1, 'sad', true, NULL)::part]"]),
        ("hstore", ["''", "'a=>1, \"b c\"=>NULL, \"q\\\"\"=>\"\\\\\"'", "'z=>1, aa=>2'"]),
        (
            "geometry",
            [
                "'LINESTRING(0 0,1.25 1)'", "'POLYGON((0 0,1 0,1 1,0 0),(0.1 0.1,0.2 0.1,0.2 0.2,0.1 0.1))'",
                "'MULTIPOINT((1 2),(3 4))'", "'GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(0 0,1 1))'",
                "'POINT Z (1 2 3)'", "'MULTIPOLYGON(((0 0,1 0,1 1,0 0)))'", "'MULTILINESTRING((0 0,1 1),(2 2,3 3))'",
                "'POINT(10.123456789 -0.5)'",
            ]
        ),
        ("geography", ["'SRID=4326;POINT(1.5 2)'"]),
    ]

    @Test("each type's values are the same by copy, INSERT and UPDATE, and those of to_jsonb") func values() throws {
        let server = try PostgresServer.shared()
        let database = try server.makeDatabase()
        try server.sql(Self.types, in: database)
        let columns = Self.cases.enumerated().map { "v\($0.offset) \($0.element.type)" }
        try server.sql(
            "CREATE TABLE t (id int PRIMARY KEY, place geometry(Point, 4326), \(columns.joined(separator: ", ")))",
            in: database)
        let rows = Self.cases.map(\.values.count).max() ?? 0
        func insert(_ offset: Int) -> String {
            (0..<rows).map { row in
                let values = Self.cases.map { row < $0.values.count ? "(\($0.values[row]))::\($0.type)" : "NULL" }
                return
                    "INSERT INTO t VALUES (\(row + offset), 'SRID=4326;POINT(1 2)', \(values.joined(separator: ", ")));"
            }.joined(separator: "\n")
        }
        try server.sql(insert(0), in: database)
        let table = try FollowedTable(server, database, table: "t") { $0.geometry = .column("place") }
        try table.run("a copy") { $0.states.last == .following }
        try server.sql(insert(1000), in: database)
        let assignments = Self.cases.indices.map { "v\($0) = (SELECT v\($0) FROM t o WHERE o.id = t.id - 2000)" }
        try server.sql(
            """
            INSERT INTO t SELECT n + 2000, 'SRID=4326;POINT(1 2)' FROM generate_series(0, \(rows - 1)) n;
            UPDATE t SET \(assignments.joined(separator: ", ")) WHERE id >= 2000;
            """, in: database)
        try table.catchUp(server)
        #expect(table.faults == [])
        #expect(table.features.count == 3 * rows)
        for row in 0..<rows {
            let expected = try server.sql(
                "SET TimeZone = 'UTC'; SET search_path = ''; SELECT to_jsonb(t) FROM public.t WHERE id = \(row)",
                in: database)
            compare(table, row, expected)
        }
        #expect(table.features == (try table.freshCopy()))
        table.stop()
    }

    private func compare(_ table: FollowedTable, _ row: Int, _ expected: String) {
        let texts = [0, 1000, 2000].map { table.features["\($0 + row)"].map(Self.properties) ?? "" }
        #expect(texts[0] == texts[1] && texts[0] == texts[2], "row \(row)")
        let found = Self.members(texts[0])
        let server = Self.members(expected)
        for (index, value) in Self.cases.enumerated() {
            let (ours, theirs) = (found["v\(index)"] ?? "", server["v\(index)"] ?? "")
            if value.type == "json" || value.type == "json[]" {
                // Unchanged, while to_jsonb drops repeated keys and sorts them: the values are the same.
                #expect((try? JSONReader.parse(ours)) == (try? JSONReader.parse(theirs)), "\(value.type): \(ours)")
            } else {
                #expect(Self.compact(ours) == Self.compact(theirs), "\(value.type)")
            }
        }
    }

    private static func properties(_ feature: String) -> String {
        let start = feature.range(of: "\"properties\":")?.upperBound ?? feature.endIndex
        return String(feature[start...].dropLast())
    }

    /// The members' texts as they are written, which a parsed value would not have.
    private static func members(_ object: String) -> [String: String] {
        Array(object.utf8).withUnsafeBytes { bytes in
            var members: [String: String] = [:]
            for (key, value) in JSONMembers(ofValidated: bytes) {
                members[String(decoding: key, as: UTF8.self)] = String(decoding: value, as: UTF8.self)
            }
            return members
        }
    }

    /// Without the blanks between words, and with strings' escapes resolved.
    private static func compact(_ text: String) -> String {
        var result = ""
        var isString = false
        var characters = Array(text)[...]
        while let character = characters.popFirst() {
            if character == "\\", isString, let next = characters.popFirst() {
                switch next {
                case "u":
                    let code = UInt32(String(characters.prefix(4)), radix: 16) ?? 0
                    characters = characters.dropFirst(4)
                    result.unicodeScalars.append(Unicode.Scalar(code) ?? " ")
                case "n": result += "\n"
                case "t": result += "\t"
                case "r": result += "\r"
                case "b": result += "\u{8}"
                case "f": result += "\u{c}"
                default: result += "\\" + String(next)
                }
                continue
            }
            if character == "\"" { isString.toggle() }
            if isString || !character.isWhitespace { result.append(character) }
        }
        return result
    }

    @Test("random numbers have the text of to_jsonb, copied and followed") func randomNumbers() throws {
        let server = try PostgresServer.shared()
        let database = try server.makeDatabase()
        try server.sql(
            """
            CREATE TABLE t (id int PRIMARY KEY, x float8, y float8, d float8, f float4, n numeric);
            CREATE FUNCTION fill(first int, last int) RETURNS void LANGUAGE sql AS $$
                INSERT INTO t SELECT n, random() * 360 - 180, random() * 180 - 90,
                    (random() - 0.5) * 10 ^ (random() * 600 - 300), ((random() - 0.5) * 10 ^ (random() * 70 - 35))::float4,
                    round((random() * 10 ^ (random() * 20))::numeric, (random() * 10)::int) FROM generate_series(first, last) n
            $$;
            SELECT fill(1, 3000);
            """, in: database)
        let table = try FollowedTable(server, database, table: "t") {
            $0.geometry = .coordinates(longitude: "x", latitude: "y")
        }
        try table.run("a copy") { $0.states.last == .following }
        try server.sql("SELECT fill(3001, 6000)", in: database)
        try table.catchUp(server)
        let lines = try server.sql(
            "SELECT id, to_jsonb(d), to_jsonb(f), to_jsonb(n) FROM t ORDER BY id", in: database
        ).split(separator: "\n")
        #expect(lines.count == 6000)
        #expect(table.features.count == 6000)
        for line in lines {
            let fields = line.split(separator: "|").map(String.init)
            let expected = #"{"d":\#(fields[1]),"f":\#(fields[2]),"n":\#(fields[3])}"#
            #expect(table.features[fields[0]].map(Self.properties) == expected)
        }
        #expect(table.features == (try table.freshCopy()))
        #expect(table.faults == [])
        table.stop()
    }
}

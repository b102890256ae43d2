// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

@testable import GeoJSON

@Suite("Tables") struct TableTests {
    private func rows(
        _ text: String, _ columns: TableColumns = TableColumns(), piece: Int = 1 << 20,
        policy: InvalidFeaturePolicy = .reject, rules: FeatureRules = FeatureRules()
    ) throws -> [String] {
        let store = try read(
            Array(text.utf8), piece: piece, format: FeatureFormat(.automatic, table: columns), policy: policy,
            rules: rules
        ).store
        return (0..<store.count).map { store.text($0) }
    }

    private static let expected = [
        feature(#""a""#, "[1,2]", #"{"name":"Zürich, \"x\"\nCH","n":5,"open":true,"zip":"007"}"#),
        feature("7", "[-1.5e1,0.25]", #"{"n":-0.5,"open":"True","zip":"1e999"}"#),
    ]

    private static let plain = """
        id,name,n,lon,lat,open,zip
        a,"Zürich, ""x""\nCH",5,1,2,true,007
        7,,-0.5,-1.5e1,0.25,True,1e999

        """

    @Test("a table may have very many columns", .timeLimit(.minutes(2))) func manyColumns() throws {
        let names = (0..<100_000).map { "c\($0)" }
        let text = "lon,lat,c7," + names.joined(separator: ",") + "\n"
        let columns = TableColumns(text: Set(names.suffix(20_000)))
        let header = try #require(try TableHeader(Array(text.utf8), columns))
        #expect(header.keys.count(where: { $0 != nil }) == 100_000 && header.keys[2] == nil)
        #expect(header.staysText.count(where: { $0 }) == 20_000)
    }

    @Test(
        "delimiters, line ends and byte order marks are recognised",
        arguments: [",", ";", "\t"], ["\n", "\r\n"])
    func forms(delimiter: String, end: String) throws {
        var text = Self.plain.replacingOccurrences(of: "\n7", with: end + "7")
        text = text.replacingOccurrences(of: "zip\n", with: "zip" + end)
        text = text.replacingOccurrences(of: "999\n", with: "999" + end)
        if delimiter != "," {
            text = text.replacingOccurrences(of: ",", with: delimiter)
                .replacingOccurrences(of: "Zürich\(delimiter)", with: "Zürich,")
        }
        for piece in [1, 3, 1000] {
            #expect(try rows(text, piece: piece) == Self.expected)
            #expect(try rows("\u{FEFF}" + text, piece: piece) == Self.expected)
        }
    }

    @Test("decimal commas are read if cells are not separated by commas", arguments: [1, 4, 1000])
    func decimalCommas(piece: Int) throws {
        let columns = TableColumns(text: ["zip"])
        #expect(
            try rows("lon;lat;n;zip;t\n1,5;-2,25;0,5;1,5;1,2,3\n3;4,5;7;;a,b\n", columns, piece: piece) == [
                feature(nil, "[1.5,-2.25]", #"{"n":0.5,"zip":"1,5","t":"1,2,3"}"#),
                feature(nil, "[3,4.5]", #"{"n":7,"t":"a,b"}"#),
            ])
        // Without one in the positions, a comma may separate thousands.
        #expect(
            try rows("lon;lat;n\n1.5;2;1,234\n", piece: piece) == [feature(nil, "[1.5,2]", #"{"n":"1,234"}"#)]
        )
    }

    @Test(
        "one column may have latitude and longitude",
        arguments: [
            "48.1, 11.5", "48.1,11.5", "48.1 11.5", "(48.1; 11.5)", "[48.1, 11.5]",
        ])
    func pairs(position: String) throws {
        for name in ["coordinates", "Location", "lat_lng"] {
            #expect(try rows("name,\(name)\na,\"\(position)\"\n") == [feature(nil, "[11.5,48.1]", #"{"name":"a"}"#)])
        }
        #expect(throws: GeoJSONError.self) { try rows("name,location\na,Bern\n") }
    }

    @Test("objects of an array with positions become features, also within an object", arguments: [1, 5, 1000])
    func records(piece: Int) throws {
        let objects = """
            [{"id":7,"name":"a, \\"b\\"","lat":48.1,"LNG":11.5,"tags":[1,
            2]},
            {"lat":"48.2","name":null,"LNG":"-11.6"}]
            """
        let expected = [
            feature("7", "[11.5,48.1]", "{\"name\":\"a, \\\"b\\\"\",\"tags\":[1,\n2]}"),
            feature(nil, "[-11.6,48.2]", #"{"name":null}"#),
        ]
        for text in [objects, #"{"ok":true,"links":[{"a":1}],"data":\#(objects),"total":2}"#] {
            #expect(try rows(text, piece: piece) == expected)
        }
    }

    @Test(
        "columns of positions by name, in any letter case, in order of preference",
        arguments: [
            "x,Y", "LON,LAT", "Long,latitude", "lng,lat", "LONGITUDE,y", " lon , lat ",
        ])
    func names(header: String) throws {
        #expect(
            try rows(header + ",a\n1,2,3\n") == [
                #"{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"a":3}}"#
            ])
    }

    @Test("columns may be named, and text kept") func named() throws {
        let columns = TableColumns(
            longitude: "east", latitude: "north", id: "key", delimiter: UInt8(ascii: "|"), text: ["zip"])
        let text = "key|east|north|lon|zip|id\nk|1|2|9|04100|5\n"
        #expect(try rows(text, columns) == [feature(#""k""#, "[1,2]", #"{"lon":9,"zip":"04100","id":5}"#)])
        #expect(
            try rows("id,lon,lat,n\n5,1,2,3\n", TableColumns(text: ["id", "n"])) == [
                feature(#""5""#, "[1,2]", #"{"n":"3"}"#)
            ])
    }

    @Test("a property can be the id") func promoted() throws {
        let text = "id,lon,lat,code\n1,1,2,x\n2,3,4,\n"
        let store = try read(Array(text.utf8), rules: FeatureRules(promoteId: "code")).store
        #expect(store.text(0) == feature(#""x""#, "[1,2]", #"{"code":"x"}"#))
        #expect(!store.hasIdentifier(1))
    }

    @Test(
        "a table without required columns is rejected, and the error lists its columns",
        arguments: [
            (
                "name,breite,laenge\na,1,2\n", TableColumns(),
                #"has no longitude column and no latitude column among its columns "name", "breite""#
            ),
            (
                "name,breite,laenge\na,1,2\n", TableColumns(),
                ": name them with params.longitude and params.latitude"
            ),
            (
                "a,b\n1,2\n", TableColumns(longitude: "e", latitude: "n"),
                #"no column "e" and no column "n" among"#
            ),
            ("a,b\n1,2\n", TableColumns(longitude: "e"), "and no latitude column among"),
            ("lon,b\n1,2\n", TableColumns(), "no latitude column"),
            ("lon,lat,n\r1,2,a\r3,4,b\r", TableColumns(), "end with a carriage return alone"),
            ("n,lon,lat\r1,2,3", TableColumns(), "end with a carriage return alone"),
            ("lon,lat\n1,2\n", TableColumns(longitude: "east"), #"no column "east""#),
            ("lon,lat\n1,2\n", TableColumns(id: "key"), #"no column "key""#),
            ("lon,lat\n1,2\n", TableColumns(text: ["zip"]), #"no column "zip""#),
        ])
    func missing(text: String, columns: TableColumns, problem: String) throws {
        let error = #expect(throws: GeoJSONError.self) { try rows(text, columns) }
        #expect(error?.message.contains(problem) == true, "\(error?.message ?? "")")
    }

    @Test("an invalid row costs only itself, and is named by its line", arguments: [1, 10, 1000])
    func bad(piece: Int) throws {
        var text =
            "id,lon,lat,name\n1,1,2,\"two\nlines\"\n2,1,2\n3,1,2,a,b\n4,,2,a\n5,1,north,a\n6,1,91,a\n7,1,2,\"a\"b\n"
        text += "8,1,2,5\" pipe\n\n9,1,2,\"open\n10,1,2,a\n"
        let (store, skipped, reasons) = try read(Array(text.utf8), piece: piece, policy: .skip)
        #expect(
            (0..<store.count).map { store.text($0) } == [
                feature("1", "[1,2]", #"{"name":"two\nlines"}"#),
                feature("8", "[1,2]", #"{"name":"5\" pipe"}"#),
                feature("10", "[1,2]", #"{"name":"a"}"#),
            ])
        #expect(skipped.map(\.line) == [4, 5, 6, 7, 8, 9, 12])
        #expect(skipped.map(\.index) == [1, 2, 3, 4, 5, 6, 8])
        #expect(reasons == ["badCellCount": 2, "badPosition": 2, "latitudeOutOfRange": 1, "badQuotes": 2])
        #expect(skipped[2].identifier == "4")
    }

    @Test("bytes that are not UTF-8 cost only their row") func encoding() throws {
        let text = Array("lon,lat,a\n1,2,x\n3,4,".utf8) + [0xFF] + Array("\n5,6,y\n".utf8)
        let (store, skipped, _) = try read(text, policy: .skip)
        #expect(store.count == 2)
        #expect(skipped.map(\.fault) == [.badEncoding])
    }

    @Test("a table with only a header has no features")
    func headerOnly() throws { #expect(try rows("lon,lat\n").isEmpty) }

    @Test("every string survives quoting") func quoting() throws {
        var random = SystemRandomNumberGenerator()
        let parts = ["\"", ",", ";", "\n", "\r\n", "\t", "a", "é", "\\", " ", "1", "\u{1}"]
        for _ in 0..<300 {
            let text = (0..<Int.random(in: 1...8, using: &random)).map { _ in parts.randomElement(using: &random) ?? ""
            }.joined()
            let quoted = "\"" + text.replacingOccurrences(of: "\"", with: "\"\"") + "\""
            let store = try read(
                Array("lon,lat,t\n1,2,\(quoted)\n".utf8), piece: Int.random(in: 1...30, using: &random),
                format: FeatureFormat(.table, table: TableColumns(delimiter: UInt8(ascii: ","), text: ["t"]))
            ).store
            let properties = store.withProperties(0) { String(decoding: $0, as: UTF8.self) }
            #expect(try JSONReader.parse(properties)["t"] == .string(text))
        }
    }
}

// SPDX-License-Identifier: MIT
import Clustering
import SourceTestSupport
import Testing

@testable import Aggregates
@testable import Responses
@testable import SourceEngine

@Suite("Aggregation") struct AggregationTests {
    /// Three points that are one cluster at zoom 0, with a property `v` each.
    private func cluster(_ definition: String, _ values: [String], options: String = "") throws -> Answer {
        let test = try TestSource(options: "{\"clusterProperties\":{\"a\":\(definition)}\(options)}")
        let features = values.enumerated().map { point($0, Double($0) / 1000, 0, "{\"v\":\($1)}") }
        try test.load("[" + features.joined(separator: ",") + "]")
        return try test.world(0)
    }

    @Test(
        "folds",
        arguments: [
            (#"["+",["get","v"]]"#, ["1", "2", "3.5"], "6.5"), (#"["*",["get","v"]]"#, ["2", "3", "4"], "24"),
            (#"["max",["get","v"]]"#, ["2", "9", "4"], "9"), (#"["min",["get","v"]]"#, ["2", "9", "4"], "2"),
            (#"["all",["get","v"]]"#, ["true", "true", "false"], "false"),
            (#"["any",["get","v"]]"#, ["false", "true", "false"], "true"),
            (#"["+",["get","v"]]"#, ["1", "null", "3"], "null"), (#"["+",["get","v"]]"#, ["1", "\"x\"", "3"], "null"),
            (#"["+",["coalesce",["get","v"],0]]"#, ["1", "null", "3"], "4"),
            (#"["+",10,["get","v"]]"#, ["1", "2", "3"], "16"), (#"["max",5,["get","v"]]"#, ["1", "2", "3"], "5"),
            (#"["any",true,["get","v"]]"#, ["false", "false", "false"], "true"),
            (#"[["+",["accumulated"],["get","a"]],["get","v"]]"#, ["1", "2", "3"], "6"),
            (#"[["concat",["accumulated"],["get","a"]],["get","v"]]"#, ["\"x\"", "\"y\"", "\"z\""], "\"xyz\""),
            (#"["mean",["get","v"]]"#, ["1", "null", "4"], "2.5"),
            (#"["mean",["get","v"]]"#, ["null", "null", "null"], "null"),
            (#"["count",["get","v"]]"#, ["1", "null", "\"x\""], "2"),
            (#"["distinct",["get","v"]]"#, ["\"b\"", "\"a\"", "\"b\""], #"["a","b"]"#),
            (#"["distinct",["get","v"]]"#, ["2", "null", "10"], "[2,10]"),
            (#"["histogram",["get","v"]]"#, ["\"b\"", "\"a\"", "\"b\""], #"{"a":1,"b":2}"#),
            (#"["median",["get","v"]]"#, ["5", "null", "2"], "3.5"),
            (#"["median",["get","v"]]"#, ["5", "1", "2"], "2"),
            (#"["median",["get","v"]]"#, ["null", "\"x\"", "null"], "null"),
            (#"["quantiles",[0,0.25,1],["get","v"]]"#, ["10", "20", "40"], "[10,15,40]"),
            (#"["quantiles",[0.5],["get","v"]]"#, ["null", "null", "null"], "[null]"),
        ])
    func folds(_ definition: String, _ values: [String], _ told: String) throws {
        #expect(try cluster(definition, values).text.contains("\"a\":\(told),\"cluster\":true"))
    }

    @Test(
        "a map reads the feature's id, properties and geometry type; a reduce expression reads none of them")
    func mapSeesTheFeature() throws {
        let definitions = [
            #""a":["max",["id"]]"#, #""b":["distinct",["geometry-type"]]"#,
            #""c":["+",["length",["to-string",["properties"]]]]"#,
            #""d":[["coalesce",["id"],["geometry-type"],["accumulated"]],["id"]]"#,
        ]
        let test = try TestSource(options: "{\"clusterProperties\":{\(definitions.joined(separator: ","))}}")
        try test.load(list(point(7, 0, 0, #"{"v":1}"#), point(9, 0.001, 0, "{}")))
        #expect(try test.world(0).text.contains(#""a":9,"b":["Point"],"c":9,"d":7,"cluster":true"#))
    }

    @Test("the memory of folded values and of their errors is limited") func foldedValuesAreLimited() throws {
        let long = String(repeating: "x", count: 900_000)
        let definition = #"[["concat",["slice",["accumulated"],0,1],"\#(long)"],["to-string",["get","v"]]]"#
        let test = try TestSource(options: #"{"clusterProperties":{"a":\#(definition)}}"#)
        // A hundred pairs of points far from each other: as many clusters on the deepest zooms.
        let features = (0..<200).map { point($0, Double($0 / 2) * 3 - 150, Double($0 % 2) * 1e-6, "{}") }
        try test.load("[" + features.joined(separator: ",") + "]")
        let errors = test.source.revision.view.propertyErrors
        #expect(errors.contains { $0.message.contains("bytes together") && $0.count > 10 })

        let failing = try TestSource(
            options:
                #"{"clusterProperties":{"a":[["to-number",["concat",["accumulated"],["get","a"]]],["get","v"]]}}"#
        )
        let points = (0..<2000).map { number in
            let text = "\(number)" + String(repeating: "y", count: 5000)
            return point(number, Double(number / 2) * 0.3 - 150, Double(number % 2) * 1e-6, #"{"v":"\#(text)"}"#)
        }
        try failing.load("[" + points.joined(separator: ",") + "]")
        let messages = failing.source.revision.view.propertyErrors.map(\.message)
        #expect(messages.count < 300)
        #expect(messages.allSatisfy { $0.utf8.count < 2000 })
    }

    @Test("cached texts of large clusters are limited in number and size") func cachedTextsAreLimited() {
        var kept = LargeClusterTexts.Kept()
        for number in 0..<1000 {
            kept.keep([UInt8](repeating: 1, count: 100_000), of: ClusterOrdinal(rawValue: UInt32(number)))
            #expect(kept.bytes <= LargeClusterTexts.Kept.mostBytes)
        }
        #expect(kept.texts.count == LargeClusterTexts.Kept.mostBytes / 100_000)
        kept.keep([UInt8](repeating: 1, count: 2 << 20), of: ClusterOrdinal(rawValue: 5000))
        #expect(kept.texts.count == LargeClusterTexts.Kept.mostBytes / 100_000)
    }

    @Test("errors are counted by message") func errorsAreCountedByMessage() throws {
        let test = try TestSource(options: #"{"clusterProperties":{"a":["+",["number",["get","v"]]]}}"#)
        try test.load(list(point(1, 0, 0, #"{"v":"x"}"#), point(2, 0, 0, #"{"v":1}"#)))
        let errors = test.source.revision.view.propertyErrors
        #expect(
            errors.contains(
                PropertyError(message: "Expected value to be of type number, but found string instead.", count: 1)))
    }

    @Test("an operator and its equivalent reduce expression give the same values and errors")
    func shortAndLong() throws {
        let numbers = ["[1,2,3.5]", "[1,null,3]", "[1,\"x\",3]", "[\"x\",1,2]", "[-1,1e308,1e308]"]
        let flags = ["[true,true,false]", "[false,false,true]", "[true,null,true]", "[1,true,false]"]
        for (name, lists) in [
            ("+", numbers), ("*", numbers), ("max", numbers), ("min", numbers), ("all", flags), ("any", flags),
        ] {
            let long = #"["\#(name)",["accumulated"],["get","a"]]"#
            for list in lists {
                let seen = try [#""\#(name)""#, long, #"["let","x",0,\#(long)]"#].map { fold in
                    let definition = #"{"clusterProperties":{"a":[\#(fold),["at",["get","i"],["get","v"]]]}}"#
                    let test = try TestSource(options: definition)
                    let features = (0..<3).map { place in
                        point(place, Double(place) / 1000, 0, #"{"i":\#(place),"v":\#(list)}"#)
                    }
                    try test.load("[" + features.joined(separator: ",") + "]")
                    return (try test.world(0).text, test.source.revision.view.propertyErrors)
                }
                #expect(seen[0] == seen[1], "\(name) of \(list)")
                #expect(seen[0] == seen[2], "\(name) of \(list)")
            }
        }
    }

    @Test("more than 64 values end with a mark") func moreThanSixtyFourValuesEndWithAMark() throws {
        let values = (0..<70).map { String($0) }
        let distinct = try cluster(#"["distinct",["get","v"]]"#, values).properties(0)["a"] as? [Any]
        #expect(distinct?.count == 65)
        #expect(distinct?.last as? String == LabelColumn.mark)
        let histogram = try cluster(#"["histogram",["get","v"]]"#, values).properties(0)["a"] as? [String: Int]
        #expect(histogram?.count == 65)
        #expect(histogram?[LabelColumn.mark] == 6)
    }

    @Test("only points of the same partition cluster together") func clustersWithinPartitions() throws {
        let answer = try cluster(
            #"["+",1]"#, ["\"x\"", "\"y\"", "\"x\"", "\"y\"", "\"x\""], options: #","partitionBy":["get","v"]"#)
        let parts = answer.features.indices.map { answer.properties($0)["partition"] as? String ?? "" }
        #expect(parts.sorted() == ["x", "y"])
        #expect(answer.pointCounts.sorted() == [2, 3])
    }

    @Test("weights move the centre and are in the answer") func weightsMoveCentre() throws {
        let test = try TestSource(options: #"{"weight":["get","w"]}"#)
        try test.load(list(point(1, 0, 0, #"{"w":3}"#), point(2, 1, 0, #"{"w":1}"#)))
        let feature = try #require(try test.world(0).features.first)
        let place = (feature["geometry"] as? [String: Any])?["coordinates"] as? [Double]
        #expect(abs((place?.first ?? 0) - 0.25) < 1e-4)
        #expect((feature["properties"] as? [String: Any])?["point_weight"] as? Double == 4)
    }
}

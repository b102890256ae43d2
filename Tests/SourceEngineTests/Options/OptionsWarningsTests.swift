// SPDX-License-Identifier: MIT
import JSON
import SourceTestSupport
import TestSupport
import Testing

@testable import SourceEngine

@Suite("Advice on new options") struct OptionsWarningsTests {
    private static func warnings(_ options: String, before: String = "{}") throws -> [String] {
        let test = try TestSource(options: before)
        try test.load(
            #"[{"type":"Feature","id":1,"properties":{"population":5},"geometry":{"type":"Point","coordinates":[1,2]}}]"#
        )
        let outcome = try test.source.update(options: SourceOptions(reading: JSONReader.parse(options)), .never)
        var bytes = ByteWriter()
        outcome.write(into: &bytes)
        #expect(bytes.string.contains("\"warnings\"") == !outcome.warnings.isEmpty)
        return outcome.warnings
    }

    @Test("names a property that no feature has, and the one that was probably meant") func misspelt() throws {
        let found = try Self.warnings(#"{"clusterProperties":{"sum":["+",["get","popluation"]]}}"#)
        #expect(found.count == 1 && found[0].contains(#""popluation""#))
        #expect(found[0].contains(#"did you mean "population"?"#))
    }

    @Test("names a promoted property that no feature has") func promoted() throws {
        let found = try Self.warnings(#"{"promoteId":"code"}"#)
        #expect(found.count == 1 && found[0].contains(#""code" that promoteId names"#))
    }

    @Test("says that nothing passes a filter") func filter() throws {
        let found = try Self.warnings(#"{"filter":[">",["get","population"],10]}"#)
        #expect(found == ["none of 1 features passes the source's option filter"])
    }

    @Test("shows the expression that a filter in MapLibre's older form means") func olderFilter() throws {
        let found = try Self.warnings(#"{"filter":["==","country","Germany"]}"#)
        #expect(
            found.first
                == #"the option filter compares constants, so it gives the same for every feature: did you mean ["==",["get","country"],"Germany"]?"#
        )
        let error = #expect(throws: SourceError.self) { try Self.warnings(#"{"filter":["!in","kind","a"]}"#) }
        #expect(
            error?.description.contains(
                #"this older filter is ["!",["in",["get","kind"],["literal",["a"]]]]."#) == true)
    }

    @Test("says that features keep their points when geometries changes") func geometries() throws {
        let found = try Self.warnings(#"{"geometries":"inside"}"#, before: #"{"geometries":"centroid"}"#)
        #expect(found.count == 1 && found[0].contains("import them again"))
    }

    @Test("needs no data if the options alone are wrong") func withoutData() throws {
        let test = try TestSource()
        func created(_ options: String) throws -> [String] {
            OptionsOutcome(created: test.source, with: try SourceOptions(reading: JSONReader.parse(options))).warnings
        }
        let hidden = try created(#"{"clusterProperties":{"point_count":["+",["get","a"]]}}"#)
        #expect(hidden.count == 1 && hidden[0].contains(#"own property "point_count""#))
        let never = try created(#"{"filter":["==",1,2]}"#)
        #expect(never.count == 1 && never[0].contains("gives false for every feature"))
        #expect(try created(#"{"filter":["==",1,1],"clusterProperties":{"a":["+",["get","a"]]}}"#).isEmpty)
        #expect(
            try Self.warnings(#"{"clusterProperties":{"cluster":["max",["get","population"]]}}"#).count == 1)
    }

    @Test("is absent if there is nothing to say") func fine() throws {
        let options = #"{"radius":60,"promoteId":"population","filter":["<",["get","population"],10]}"#
        #expect(try Self.warnings(options).isEmpty)
    }
}

// SPDX-License-Identifier: MIT
import JSON
import Testing

@testable import GeoJSON

func feature(_ id: String? = "1", _ coordinates: String = "[1,2]", _ properties: String = "{}") -> String {
    #"{"type":"Feature"\#(id.map { ",\"id\":" + $0 } ?? ""),"geometry":{"type":"Point","coordinates":\#(coordinates)},"properties":\#(properties)}"#
}

func store(_ json: String, policy: InvalidFeaturePolicy = .reject, promoteId: String? = nil) throws -> FeatureStore {
    var builder = FeatureStoreBuilder(policy: policy, promoteId: promoteId)
    try builder.add(json)
    return builder.finish()
}

extension FeatureStoreBuilder {
    mutating func add(_ json: String) throws {
        try append(features: Array(json.utf8))
    }
}

extension FeatureStore {
    func text(_ index: Int, keeping names: [String]? = nil, precision: Int? = nil) -> String {
        var writer = ByteWriter()
        write(index, into: &writer, selection: names.map { PropertySelection($0) }, precision: precision)
        return writer.string
    }
}

extension GeoJSONError {
    var invalidFeature: InvalidFeature? {
        guard case .badFeature(let feature) = self else { return nil }
        return feature
    }
}

@Suite("Features kept as bytes") struct FeatureStoreTests {
    @Test(
        "features come back as they were sent",
        arguments: [
            feature(),
            feature(#""a\"b""#, "[1.50,-2e1,300.25]", #"{"name":"Zürich \u00e9","n":{"a":[1,{"b":null}]}}"#),
            feature("12345678901234567890", "[-180,90]", "null"),
            feature("1", "[180,-90]", #"{"cluster":true}"#),
            #"{"type":"Feature","geometry":{"type":"Point","coordinates":[0,0]},"properties":{},"bbox":[0,0,1,1],"x":{"y":1}}"#,
            #"{"type":"Feature","geometry":{"type":"Point","coordinates":[0,0],"bbox":[0,0,0,0],"x":{"y":[1]}},"properties":{}}"#,
        ])
    func verbatim(_ text: String) throws {
        let store = try store("[\(text)]")
        #expect(store.count == 1)
        #expect(store.text(0) == text)
    }

    @Test("members may be in any order; of equal ones, the last counts")
    func order() throws {
        let store = try store(
            #"[{"properties":{"a":1},"id":1,"geometry":{"coordinates":[3,4],"type":"Point"},"id":"two","type":"Feature"}]"#
        )
        #expect(store.text(0) == feature(#""two""#, "[3,4]", #"{"a":1}"#))
        #expect(store.coordinates(0) == (3, 4))
    }

    @Test(
        "invalid features have a reason",
        arguments: [
            ("1", .notAFeature), ("null", .notAFeature), (#"{"type":"Point"}"#, .notAFeature),
            (#"{"type":"Feature","geometry":null,"properties":{}}"#, .noGeometry),
            (#"{"type":"Feature","properties":{}}"#, .noGeometry),
            (
                #"{"type":"Feature","geometry":{"type":"LineString","coordinates":[[1,2],[3,4]]},"properties":{}}"#,
                .notAPoint
            ),
            (#"{"type":"Feature","geometry":{"type":"Point"},"properties":{}}"#, .badCoordinates),
            (feature("1", "[]"), .badCoordinates), (feature("1", "[1]"), .badCoordinates),
            (feature("1", #"["1",2]"#), .badCoordinates), (feature("1", "[1,2,null]"), .badCoordinates),
            (feature("1", #"{"0":1,"1":2}"#), .badCoordinates),
            (feature("1", "[180.1,0]"), .longitudeOutOfRange),
            (feature("1", "[0,-90.5]"), .latitudeOutOfRange),
            (feature("null"), .badIdentifier), (feature("true"), .badIdentifier),
            (feature("[1]"), .badIdentifier),
            (feature("1", "[1,2]", "[]"), .badProperties), (feature("1", "[1,2]", "1"), .badProperties),
            (#"{"type":"Feature","geometry":{"type":"Point","coordinates":[0,0]}}"#, .badProperties),
        ] as [(String, FeatureFault)])
    func bad(_ text: String, _ fault: FeatureFault) throws {
        let json = "[\(feature()),\(text),\(feature())]"
        let error = #expect(throws: GeoJSONError.self) { _ = try store(json) }
        #expect(error?.invalidFeature?.index == 1)
        #expect(error?.invalidFeature?.fault == fault)
        var builder = FeatureStoreBuilder(policy: .skip, promoteId: nil)
        try builder.add(json)
        #expect(builder.accepted == 2)
        #expect(builder.skipped == 1)
        #expect(builder.skippedReasons == [fault.rawValue: 1])
        #expect(builder.finish().count == 2)
    }

    @Test("the index of an invalid feature counts over the whole import") func index() throws {
        var builder = FeatureStoreBuilder(policy: .reject, promoteId: nil)
        try builder.add("[\(feature()),\(feature())]")
        let error = #expect(throws: GeoJSONError.self) { try builder.add("[\(feature()),7]") }
        #expect(error == .badFeature(InvalidFeature(index: 3, fault: .notAFeature)))
        #expect(error?.message.contains("Feature 3") == true)
    }

    @Test("half a surrogate pair is one invalid feature") func surrogates() throws {
        for text in [#""\ud800""#, #""\udc00""#, #""\ud800\u0041""#, #""\ud800\ud800\udc00""#] {
            let json = "[\(feature()),\(feature("7", "[1,2]", "{\"a\":\(text)}")),\(feature())]"
            let error = #expect(throws: GeoJSONError.self) { _ = try store(json) }
            let expected = InvalidFeature(index: 1, fault: .loneSurrogate, identifier: "7")
            #expect(error == .badFeature(expected))
            #expect(try store(json, policy: .skip).count == 2)
        }
    }

    @Test("text that is not JSON is malformed") func malformed() {
        #expect(throws: GeoJSONError.self) { _ = try store("[{]") }
    }

    @Test("a property can be the id") func promoted() throws {
        let json =
            "[\(feature("1", "[1,2]", #"{"code":"x"}"#)),\(feature("2", "[1,2]", #"{"code":[1]}"#)),\(feature("3"))]"
        let store = try store(json, promoteId: "code")
        #expect(store.withIdentifier(0) { $0.map { String(decoding: $0, as: UTF8.self) } } == #""x""#)
        #expect(!store.hasIdentifier(1))
        #expect(!store.hasIdentifier(2))
    }

    @Test("properties can be selected and coordinates rounded") func selection() throws {
        let store = try store(
            "[\(feature("1", "[1.23456,-7.005,3]", #"{"a":1,"b\u0063":{"x":"},"},"d":[1,2], "e" : "q\"" }"#))]"
        )
        #expect(
            store.text(0, keeping: ["bc", "e"], precision: 2)
                == feature("1", "[1.23,-7.01,3]", #"{"b\u0063":{"x":"},"},"e":"q\""}"#))
        #expect(store.text(0, keeping: []).hasSuffix(#""properties":{}}"#))
        #expect(try self.nullProperties().text(0, keeping: ["a"]).hasSuffix(#""properties":null}"#))
    }

    private func nullProperties() throws -> FeatureStore { try store("[\(feature("1", "[1,2]", "null"))]") }

    @Test("slices of stores join, over many blocks") func joining() throws {
        let first = try store(
            "["
                + (0..<300).map { feature("\($0)", "[\($0 % 90),1]", #"{"n":\#($0)}"#) }.joined(
                    separator: ",") + "]")
        let second = try store("[\(feature("1000")),\(feature("1001"))]")
        let joined = FeatureStore.joining([
            FeatureSlice(store: first, rows: 10..<200), FeatureSlice(store: second, rows: 1..<2),
            FeatureSlice(store: first, rows: 0..<0), FeatureSlice(store: first, rows: 250..<400),
        ])
        #expect(joined.count == 190 + 1 + 50)
        #expect(joined.text(0) == first.text(10))
        #expect(joined.text(189) == first.text(199))
        #expect(joined.text(190) == second.text(1))
        #expect(joined.text(240) == first.text(299))
        let (longitudes, latitudes) = try #require(joined.takeCoordinates(threads: 2) { false }).arrays
        #expect(longitudes.count == 241 && longitudes[5] == 15 && latitudes[5] == 1)
        #expect(FeatureStore.joining([]).count == 0)
    }

    @Test(
        "coordinates in memory equal those read by one or several threads; reading stops when cancelled"
    )
    func allCoordinates() throws {
        let count = 40_000
        let store = try store(
            "["
                + (0..<count).map {
                    feature("\($0)", "[\(Double($0) / 1000 - 50), \(Double($0 % 170) - 85.5) ]", "null")
                }.joined(separator: ",") + "]")
        let fresh = try #require(store.takeCoordinates(threads: 1) { true }).arrays
        #expect(store.takeCoordinates(threads: 1) { true } == nil)
        #expect(store.takeCoordinates(threads: 2) { true } == nil)
        for threads in 1...2 {
            let (longitudes, latitudes) = try #require(store.takeCoordinates(threads: threads) { false }).arrays
            #expect(longitudes == fresh.longitudes)
            #expect(latitudes == fresh.latitudes)
        }
        #expect(fresh.longitudes[30_001] == Double(30_001) / 1000 - 50)
        #expect(fresh.latitudes[30_001] == Double(30_001 % 170) - 85.5)
    }
}

extension FeatureCoordinates {
    /// Copies of the columns.
    var arrays: (longitudes: [Double], latitudes: [Double]) { withColumns { (Array($0), Array($1)) } }
}

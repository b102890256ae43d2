// SPDX-License-Identifier: MIT
import ClusterClient
import JSON
import Testing

@testable import Rendering

@Suite("Marker slide") struct MarkerSlideTests {
    private func marker(_ key: String, _ longitude: Double, from: String? = nil) throws -> Marker {
        let origin = from.map { #","from":"\#($0)""# } ?? ""
        let text =
            #"{"type":"Feature","key":"\#(key)"\#(origin),"geometry":{"type":"Point","coordinates":[\#(longitude),0]},"#
            + #""properties":{"cluster":true,"cluster_id":1,"point_count":2,"point_count_abbreviated":2}}"#
        return try #require(Marker(JSONReader.parse(text)))
    }

    private func shown(_ markers: Marker...) -> [String: (feature: Feature, position: MarkerSlide.Position)] {
        Dictionary(uniqueKeysWithValues: markers.map { ($0.key, ($0.feature, MarkerSlide.Position($0.feature))) })
    }

    private func slide(
        _ old: [String: (feature: Feature, position: MarkerSlide.Position)], _ new: [Marker],
        _ absorbers: [String: String] = [:], wraps: Bool = true
    ) -> MarkerSlide? {
        MarkerSlide(from: old, to: new, absorbers: absorbers, wraps: wraps)
    }

    @Test("a new marker comes out of the one that it was in") func movesNewMarkerOutOfItsOrigin() throws {
        let (new, kept) = (try marker("b", 20, from: "a"), try marker("a", 0))
        var slide = try #require(slide(shown(try marker("a", 10)), [kept, new]))
        #expect(slide.position(of: "b", new.feature).longitude == 10)
        #expect(slide.position(of: "a", kept.feature).longitude == 10)
        var last = 10.0
        for _ in 1..<MarkerSlide.frames {
            let goesOn = slide.advance()
            #expect(goesOn)
            let longitude = slide.position(of: "b", new.feature).longitude
            #expect(longitude > last)
            #expect(longitude < 20)
            last = longitude
        }
        let isOver = !slide.advance()
        #expect(isOver)
        #expect(slide.position(of: "b", new.feature).longitude == 20)
    }

    @Test("a marker that has gone moves into its absorber") func movesRemovedMarkerIntoAbsorber() throws {
        let old = shown(try marker("a", 0), try marker("b", 40), try marker("c", 80))
        var slide = try #require(slide(old, [try marker("a", 0)], ["b": "a"]))
        #expect(slide.leaving.map(\.position.longitude) == [40])
        _ = slide.advance()
        #expect(slide.leaving[0].position.longitude < 40)
    }

    @Test("the shorter way is taken over the antimeridian") func takesShorterWayOverAntimeridian() throws {
        let new = try marker("a", -170)
        var slide = try #require(slide(shown(try marker("a", 170)), [new]))
        _ = slide.advance()
        #expect(slide.position(of: "a", new.feature).longitude > 170)
        var onPlane = try #require(self.slide(shown(try marker("a", 170)), [new], wraps: false))
        _ = onPlane.advance()
        #expect(onPlane.position(of: "a", new.feature).longitude < 170)
    }

    @Test("without movement there is nothing to draw") func drawsNothingWithoutMovement() throws {
        #expect(slide(shown(try marker("a", 0)), [try marker("a", 0), try marker("b", 9)]) == nil)
        #expect(slide([:], [try marker("a", 0)]) == nil)
        var map = TerminalMap(camera: MapCamera(columns: 80, rows: 21))
        try map.show([marker("a", 0)], keepingSelection: false)
        #expect(map.slide == nil)
        try map.show([marker("a", 30)], keepingSelection: true)
        #expect(map.slide != nil)
        #expect(map.position(of: 0).longitude == 0)
        for _ in 0..<MarkerSlide.frames { map.advance() }
        #expect(map.slide == nil)
        #expect(map.position(of: 0).longitude == 30)
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import JSON
import SourceTestSupport
import Testing

@testable import Responses
@testable import SourceEngine

@Suite("Grid answers") struct GridTests {
    private let test: TestSource

    /// Three points in one square of zoom 2, one of them at its north-western corner, and one far away.
    init() throws {
        test = try TestSource(options: #"{"extent":64}"#)
        try test.load(
            list(
                point(1, 0, 0, #"{"v":1}"#), point(2, 10, -5, #"{"v":2}"#), point(3, 89.5, -60, #"{"v":3}"#),
                point(4, 180, 80, #"{"v":4}"#)))
    }

    private func grid(_ resolution: Int, _ box: Box = .world, filter: String? = nil) throws -> String {
        try test.answer(filter) { revision, view, bytes in
            try revision.writeGrid(box, resolution: resolution, of: view, into: &bytes, .never)
        }.text
    }

    @Test("cells are the tiles with points, by row and then by column") func cells() throws {
        #expect(
            try grid(2)
                == #"{"resolution":2,"cells":[{"x":3,"y":0,"point_count":1},{"x":2,"y":2,"point_count":3}],"revision":1}"#
        )
        #expect(try grid(0) == #"{"resolution":0,"cells":[{"x":0,"y":0,"point_count":4}],"revision":1}"#)
    }

    @Test("a cell that the box touches has all its points") func touched() throws {
        let box = Box(west: 80, south: -66, east: 85, north: -60)
        #expect(try grid(2, box) == #"{"resolution":2,"cells":[{"x":2,"y":2,"point_count":3}],"revision":1}"#)
        #expect(try grid(9, box) == #"{"resolution":9,"cells":[],"revision":1}"#)
    }

    @Test("with a filter only the features that pass count") func filters() throws {
        #expect(
            try grid(1, filter: #"["<",["get","v"],3]"#)
                == #"{"resolution":1,"cells":[{"x":1,"y":1,"point_count":2}],"revision":1}"#)
    }

    @Test("a tile's squares are closed rings, clockwise on the screen") func tiles() throws {
        let tile = try #require(TileAddress(z: 1, x: 1, y: 1))
        let answer = try test.answer { revision, view, bytes in
            try revision.writeTileGrid(tile, depth: 1, of: view, output: FeatureOutput(), into: &bytes, .never)
        }
        #expect(
            answer.text
                == #"{"features":[{"type":3,"geometry":[[[0,0],[32,0],[32,32],[0,32],[0,0]]],"tags":{"point_count":3}}],"revision":1}"#
        )
    }

    @Test("a source whose extent is too small for the squares refuses them") func smallExtent() throws {
        let tile = try #require(TileAddress(z: 0, x: 0, y: 0))
        #expect(throws: SourceError.self) {
            try test.answer { revision, view, bytes in
                try revision.writeTileGrid(tile, depth: 7, of: view, output: FeatureOutput(), into: &bytes, .never)
            }
        }
    }

    @Test("a box that wraps around a plane is refused, and a plane has cells in its own units") func planes() throws {
        let plane = try TestSource(options: #"{"projection":{"planar":[0,0,100,50]}}"#)
        try plane.load(list(point(1, 0, 50), point(2, 99, 1), point(3, 100, 0)))
        let answer = try plane.answer { revision, view, bytes in
            let box = Box(west: -1e15, south: -1e15, east: 1e15, north: 1e15)
            try revision.writeGrid(box, resolution: 1, of: view, into: &bytes, .never)
        }
        #expect(
            answer.text
                == #"{"resolution":1,"cells":[{"x":0,"y":0,"point_count":1},{"x":1,"y":0,"point_count":1},{"x":1,"y":1,"point_count":1}],"revision":1}"#
        )
        #expect(throws: SourceError.self) {
            try plane.answer { revision, view, bytes in
                let box = Box(west: 9, south: 0, east: 1, north: 1)
                try revision.writeGrid(box, resolution: 1, of: view, into: &bytes, .never)
            }
        }
    }

    @Test("more than 100,000 cells are refused") func tooMany() throws {
        let features = (0..<100_001).map { number in
            point(number, Double(number % 350) - 175, Double(number / 350) * 0.4 - 60)
        }
        try test.load("[" + features.joined(separator: ",") + "]")
        #expect(throws: SourceError.self) { try grid(26) }
        #expect(try grid(3).contains("cells"))
    }
}

// SPDX-License-Identifier: MIT
import Testing

@testable import Responses
@testable import SourceEngine

@Suite("Tile coordinate") struct TileCoordinateTests {
    @Test(
        "rounds as JavaScript does",
        arguments: [
            (0.5, 1), (-0.5, 0), (-0.51, -1), (-1.5, -1), (1.49, 1), (0.49999999999999994, 0), (-0.0, 0),
            (511.5, 512), (.nan, 0), (1e300, 0),
        ] as [(Double, Int64)])
    func roundsAsJavaScript(_ number: Double, _ rounded: Int64) {
        #expect(Revision.tileCoordinate(number) == rounded)
    }

    @Test(
        "knows which tiles exist",
        arguments: [
            (0, 0, 0, true), (0, 1, 0, false), (0, 0, -1, false), (3, 7, 7, true), (3, 8, 0, false), (-1, 0, 0, false),
            (30, (1 << 30) - 1, 0, true), (31, 0, 0, false),
        ])
    func knowsWhichTilesTheWorldHas(_ z: Int, _ x: Int, _ y: Int, _ exists: Bool) {
        #expect((TileAddress(z: z, x: x, y: y) != nil) == exists)
    }
}

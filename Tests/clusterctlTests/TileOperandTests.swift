// SPDX-License-Identifier: MIT
import Testing

@testable import clusterctl

@Suite("Tile operand") struct TileOperandTests {
    @Test("reads zoom column and row") func readsZoomColumnAndRow() throws {
        let tile = try #require(TileOperand("3/-1/12"))
        #expect(tile.z == 3)
        #expect(tile.x == -1)
        #expect(tile.y == 12)
    }

    @Test(
        "rejects what is not a tile",
        arguments: ["", "3", "3/1", "3/1/", "/1/1", "3/1/1/1", "31/0/0", "-1/0/0", "a/0/0", "3/1.5/0", "3 1 0"])
    func refusesWhatIsNoTile(text: String) { #expect(TileOperand(text) == nil) }
}

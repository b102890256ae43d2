// SPDX-License-Identifier: MIT
import Testing

@testable import Responses

@Suite("Tile numbers of archives") struct ArchiveTileIDTests {
    /// From the test vectors that PMTiles' own libraries share.
    @Test(
        "are those of the specification",
        arguments: [
            (0, 0, 0, 0), (1, 0, 0, 1), (1, 0, 1, 2), (1, 1, 1, 3), (1, 1, 0, 4), (2, 0, 0, 5),
            (12, 3423, 1763, 19_078_479),
        ])
    func knownNumbers(_ z: Int, _ x: Int, _ y: Int, _ id: UInt64) {
        #expect(ArchiveTileID.of(z: z, x: x, y: y) == id)
    }

    @Test("number every tile of a zoom once, each next to the previous one", arguments: 0...7) func isCurve(_ z: Int) {
        let side = 1 << z
        let first = ArchiveTileID.first(ofZoom: z)
        var last: (x: Int, y: Int)?
        for id in first..<ArchiveTileID.first(ofZoom: z + 1) {
            let cell = ArchiveTileID.cell(of: id, z: z)
            #expect((0..<side).contains(cell.x))
            #expect((0..<side).contains(cell.y))
            #expect(ArchiveTileID.of(z: z, x: cell.x, y: cell.y) == id)
            if let last { #expect(abs(last.x - cell.x) + abs(last.y - cell.y) == 1) }
            last = cell
        }
    }

    @Test("survive a round trip at deep zooms", arguments: [15, 24, 30]) func deepZooms(_ z: Int) {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<1000 {
            let x = Int.random(in: 0..<1 << z, using: &random)
            let y = Int.random(in: 0..<1 << z, using: &random)
            let cell = ArchiveTileID.cell(of: ArchiveTileID.of(z: z, x: x, y: y), z: z)
            #expect(cell.x == x)
            #expect(cell.y == y)
        }
    }
}

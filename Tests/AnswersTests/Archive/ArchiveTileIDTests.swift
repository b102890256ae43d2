// SPDX-License-Identifier: MIT
import Testing

@testable import Answers

@Suite("Tile numbers of archives")
struct ArchiveTileIDTests {
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

    @Test("number every tile of a zoom once, each next to the previous one", arguments: 0...7)
    func isCurve(_ z: Int) {
        let side = 1 << z
        let first = ArchiveTileID.first(ofZoom: z)
        var last: (x: Int, y: Int)?
        for id in first..<ArchiveTileID.first(ofZoom: z + 1) {
            let place = ArchiveTileID.place(of: id, z: z)
            #expect((0..<side).contains(place.x) && (0..<side).contains(place.y))
            #expect(ArchiveTileID.of(z: z, x: place.x, y: place.y) == id)
            if let last { #expect(abs(last.x - place.x) + abs(last.y - place.y) == 1) }
            last = place
        }
    }

    @Test("survive a round trip at deep zooms", arguments: [15, 24, 30])
    func deepZooms(_ z: Int) {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<1000 {
            let x = Int.random(in: 0..<1 << z, using: &random)
            let y = Int.random(in: 0..<1 << z, using: &random)
            let place = ArchiveTileID.place(of: ArchiveTileID.of(z: z, x: x, y: y), z: z)
            #expect(place.x == x && place.y == y)
        }
    }
}

// SPDX-License-Identifier: MIT
import JSON
import Testing

@testable import Bench

private func frame(_ text: String) -> [UInt8] {
    let length = UInt32(text.utf8.count)
    return [0] + (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32($0))) } + Array(text.utf8)
}

@Suite("Bench") struct BenchTests {
    private func answers(_ wire: some LoadProtocol, _ bytes: [UInt8], piece: Int) -> [LoadAnswer] {
        var wire = wire
        var found: [LoadAnswer] = []
        for start in stride(from: 0, to: bytes.count, by: piece) {
            wire.receive(bytes[start..<min(bytes.count, start + piece)].span, into: &found)
        }
        return found
    }

    @Test("answers of clusterd are parsed however the bytes are split", arguments: [1, 3, 5, 17, 100_000])
    func parsesClusterdAnswersAtAnyCut(piece: Int) {
        let long = "{\"id\":12,\"result\":{\"x\":\"\(String(repeating: "y", count: 9000))\"}}"
        let error = "{\"id\":3,\"error\":{\"code\":5}}"
        let bytes =
            frame("{\"id\":1,\"result\":{}}") + frame(long) + frame(error)
            + frame("{\"id\":null,\"error\":{}}")
        let found = answers(ClusterdLoad(requests: [[]], first: 0), bytes, piece: piece)
        #expect(
            found == [
                LoadAnswer(slot: 0, bytes: 25, isError: false),
                LoadAnswer(slot: 11, bytes: 5 + long.utf8.count, isError: false),
                LoadAnswer(slot: 2, bytes: 5 + error.utf8.count, isError: true),
                LoadAnswer(slot: -1, bytes: 27, isError: true),
            ])
    }

    @Test("the last revision of an item is found") func findsLastRevision() {
        let features = String(repeating: #"{"id":3,"revision":9},"#, count: 200)
        #expect(WatchLoad.revision(in: Array(#"{"add":[\#(features)1],"keep":0,"revision":45}"#.utf8)) == 45)
        #expect(WatchLoad.revision(in: Array(#"{"revision":6,"state":"ready"}"#.utf8)) == 6)
        #expect(WatchLoad.revision(in: Array("{}".utf8)) == nil)
    }

    @Test("answers of redis come in order", arguments: [1, 4, 100]) func answersOfRedisComeInOrder(piece: Int) {
        var wire = RedisLoad(key: "k")
        var request: [UInt8] = []
        for slot in [4, 2, 7] { wire.appendRequest(slot: slot, to: &request) }
        #expect(request == Array(String(repeating: "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", count: 3).utf8))
        let found = answers(wire, Array("$5\r\nhe\r\no\r\n$-1\r\n-ERR no\r\n".utf8), piece: piece)
        #expect(
            found == [
                LoadAnswer(slot: 4, bytes: 11, isError: false), LoadAnswer(slot: 2, bytes: 5, isError: true),
                LoadAnswer(slot: 7, bytes: 9, isError: true),
            ])
    }

    @Test("errors of redis are parsed, whatever their length", arguments: [1, 7, 70, 1000])
    func parsesLongRedisErrors(piece: Int) {
        var wire = RedisLoad(key: "k")
        var request: [UInt8] = []
        for slot in [0, 1] { wire.appendRequest(slot: slot, to: &request) }
        let error = "-ERR " + String(repeating: "no", count: 150) + "\r\n"
        let found = answers(wire, Array((error + "$2\r\nhe\r\n").utf8), piece: piece)
        #expect(
            found == [LoadAnswer(slot: 0, bytes: 307, isError: true), LoadAnswer(slot: 1, bytes: 8, isError: false)])
    }

    @Test("requests are complete frames") func requestsAreWholeFrames() throws {
        var wire = ClusterdLoad(
            requests: [Array(",\"method\":\"A\"}".utf8), Array(",\"method\":\"B\"}".utf8)], first: 1)
        var bytes: [UInt8] = []
        wire.appendRequest(slot: 0, to: &bytes)
        wire.appendRequest(slot: 9, to: &bytes)
        #expect(bytes == frame("{\"id\":1,\"method\":\"B\"}") + frame("{\"id\":10,\"method\":\"A\"}"))
    }

    @Test(
        "positions lie in their tile",
        arguments: [(-180.0, 90.0, 2, 0, 0), (179.9999, -90, 2, 3, 3), (0, 0, 1, 1, 1), (13.4, 52.52, 10, 550, 335)])
    func placesLieInTheirTile(longitude: Double, latitude: Double, zoom: Int, x: Int, y: Int) {
        let tile = TileAddress(longitude: longitude, latitude: latitude, zoom: zoom)
        #expect(tile.x == x)
        #expect(tile.y == y)
    }

    @Test("mixes are names and weights") func mixesAreNamesAndWeights() {
        #expect(RequestMix(text: "clusters")?.weights.map(\.weight) == [1])
        #expect(RequestMix(text: "clusters=8,tile=1,hull=2")?.weights.map(\.kind) == [.clusters, .tile, .hull])
        for text in ["", "nothing", "clusters=0", "clusters=x", "clusters=1001"] {
            #expect(RequestMix(text: text) == nil)
        }
    }
}

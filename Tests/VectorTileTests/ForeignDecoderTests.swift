// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import VectorTile

/// Tiles read by a decoder that is not ours: PyPI's mapbox-vector-tile, where python3 has it.
@Suite("A foreign decoder") struct ForeignDecoderTests {
    private static let hasDecoder: Bool = {
        let isThere = (try? python("import mapbox_vector_tile", input: Data())) != nil
        if !isThere {
            print("Skipped: python3 has no mapbox-vector-tile here (python3 -m pip install mapbox-vector-tile).")
        }
        return isThere
    }()

    private struct Failed: Error {}

    private static func python(_ program: String, input: Data) throws -> Data {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", program]
        let (stdin, stdout) = (Pipe(), Pipe())
        process.standardInput = stdin
        process.standardOutput = stdout
        process.standardError = FileHandle.nullDevice
        try process.run()
        try stdin.fileHandleForWriting.write(contentsOf: input)
        try stdin.fileHandleForWriting.close()
        let output = try stdout.fileHandleForReading.readToEnd() ?? Data()
        guard process.waitForEnd() == 0 else { throw Failed() }
        return output
    }

    @Test(
        "reads the same features",
        .enabled(if: hasDecoder, "python3 has no mapbox-vector-tile: python3 -m pip install mapbox-vector-tile"))
    func decode() throws {
        let tile = encode(
            [
                PointInput(x: 25, y: 17, id: 7, json: #"{"name":"Köln","count":12,"big":true,"nothing":null}"#),
                PointInput(x: -30, y: 600, json: #"{"count":-12,"share":0.25,"list":[1, 2],"name":"Köln"}"#),
            ], layer: "cities", extent: 512)
        let program = """
            import json, sys, mapbox_vector_tile
            tile = mapbox_vector_tile.decode(sys.stdin.buffer.read(), default_options={"y_coord_down": True})
            print(json.dumps(tile))
            """
        let text = try Self.python(program, input: Data(tile))
        let decoded = try #require(try JSONSerialization.jsonObject(with: text) as? [String: Any])
        #expect(decoded.keys.sorted() == ["cities"])
        let layer = try #require(decoded["cities"] as? [String: Any])
        #expect(layer["extent"] as? Int == 512)
        #expect(layer["version"] as? Int == 2)
        let features = try #require(layer["features"] as? [[String: Any]])
        try #require(features.count == 2)
        #expect(features[0]["id"] as? Int == 7)
        #expect((features[0]["geometry"] as? [String: Any])?["coordinates"] as? [Int] == [25, 17])
        #expect((features[1]["geometry"] as? [String: Any])?["coordinates"] as? [Int] == [-30, 600])
        #expect(
            features[0]["properties"] as? NSDictionary == ["name": "Köln", "count": 12, "big": true] as NSDictionary)
        #expect(
            features[1]["properties"] as? NSDictionary
                == ["count": -12, "share": 0.25, "list": "[1,2]", "name": "Köln"] as NSDictionary)
    }
}

// SPDX-License-Identifier: MIT
import Compression

@testable import Rendering

/// A PNG of 8-bit RGB, decoded without Cairo (RFC 2083): what the tests look at.
struct PNGPixels {
    struct Malformed: Error {}

    let width, height: Int
    /// Three bytes a pixel.
    private(set) var bytes: [UInt8] = []

    init(_ file: [UInt8]) throws {
        func number(_ bytes: some Collection<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
        var rest = file.dropFirst(8)
        var (header, image): ([UInt8], [UInt8]) = ([], [])
        while rest.count >= 12 {
            let length = number(rest.prefix(4))
            let checked = Array(rest.dropFirst(4).prefix(4 + length))
            guard
                number(rest.dropFirst(8 + length).prefix(4))
                    == checked.withUnsafeBytes({ Int(Zlib.crc32($0)) })
            else { throw Malformed() }
            let content = checked.dropFirst(4)
            switch String(decoding: checked.prefix(4), as: UTF8.self) {
            case "IHDR": header = Array(content)
            case "IDAT": image += content
            default: break
            }
            rest = rest.dropFirst(12 + length)
        }
        guard header.count == 13, header[8] == 8, header[9] == 2, header[12] == 0 else { throw Malformed() }
        width = number(header[0..<4])
        height = number(header[4..<8])
        let stride = width * 3
        let rows = try Zlib.inflate(image, format: .zlib, limit: (stride + 1) * height)
        var previous = [UInt8](repeating: 0, count: stride)
        for row in 0..<height {
            let start = row * (stride + 1)
            var line = Array(rows[(start + 1)..<(start + 1 + stride)])
            for index in 0..<stride {
                let left = index >= 3 ? Int(line[index - 3]) : 0
                let (above, corner) = (Int(previous[index]), index >= 3 ? Int(previous[index - 3]) : 0)
                line[index] &+= UInt8(try Self.prediction(rows[start], left, above, corner))
            }
            bytes += line
            previous = line
        }
    }

    private static func prediction(_ filter: UInt8, _ left: Int, _ above: Int, _ corner: Int) throws -> Int {
        switch filter {
        case 0: return 0
        case 1: return left
        case 2: return above
        case 3: return (left + above) / 2
        case 4:
            let guess = left + above - corner
            let distances = (abs(guess - left), abs(guess - above), abs(guess - corner))
            if distances.0 <= distances.1 && distances.0 <= distances.2 { return left }
            return distances.1 <= distances.2 ? above : corner
        default: throw Malformed()
        }
    }

    subscript(x: Int, y: Int) -> Colour {
        let start = (y * width + x) * 3
        return Colour(red: bytes[start], green: bytes[start + 1], blue: bytes[start + 2])
    }
}

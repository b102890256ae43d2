// SPDX-License-Identifier: MIT

/// Decodes keys from the bytes that a terminal in raw mode sends; a sequence may arrive in parts.
struct MapKeyDecoder {
    /// The beginning of an arrow key's sequence: escape, then `[` or `O`.
    private var sequence: [UInt8] = []

    mutating func decode(_ bytes: [UInt8]) -> [MapKey] { bytes.compactMap { decode($0) } }

    private mutating func decode(_ byte: UInt8) -> MapKey? {
        switch (sequence.count, byte) {
        case (_, 0x1B):
            sequence = [byte]
            return nil
        case (1, UInt8(ascii: "[")), (1, UInt8(ascii: "O")):
            sequence.append(byte)
            return nil
        case (2, 0x20...0x3F):
            // A parameter of a sequence that is not complete yet.
            return nil
        case (2, _):
            sequence = []
            return Self.arrow(byte)
        default:
            sequence = []
            return Self.key(byte)
        }
    }

    private static func arrow(_ byte: UInt8) -> MapKey? {
        switch byte {
        case UInt8(ascii: "A"): .north
        case UInt8(ascii: "B"): .south
        case UInt8(ascii: "C"): .east
        case UInt8(ascii: "D"): .west
        // Shift+Tab.
        case UInt8(ascii: "Z"): .previousMarker
        default: nil
        }
    }

    private static func key(_ byte: UInt8) -> MapKey? {
        switch byte {
        case UInt8(ascii: "h"): .west
        case UInt8(ascii: "j"): .south
        case UInt8(ascii: "k"): .north
        case UInt8(ascii: "l"): .east
        case UInt8(ascii: "+"), UInt8(ascii: "="): .zoomIn
        case UInt8(ascii: "-"), UInt8(ascii: "_"): .zoomOut
        case UInt8(ascii: "\r"), UInt8(ascii: "\n"): .open
        case UInt8(ascii: "\t"): .nextMarker
        case UInt8(ascii: "?"): .help
        case UInt8(ascii: "0"): .wholeSource
        // Control-C and Control-D arrive as bytes in raw mode.
        case UInt8(ascii: "q"), 3, 4: .quit
        default: nil
        }
    }
}

/// The command that a key gives the terminal's map.
enum MapKey: Equatable, Sendable {
    case west, east, north, south
    case zoomIn, zoomOut
    case open, nextMarker, previousMarker, wholeSource, help, quit
}

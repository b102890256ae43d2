// SPDX-License-Identifier: MIT

/// The part of the protobuf wire format that a vector tile needs.
/// Source: https://protobuf.dev/programming-guides/encoding/
enum Protobuf {
    /// The number of bytes of a varint.
    @inline(__always) static func length(varint value: UInt64) -> Int {
        (70 &- (value | 1).leadingZeroBitCount) / 7
    }

    /// A signed number as in sint32 and sint64: small magnitudes become small numbers.
    @inline(__always) static func zigZag(_ value: Int64) -> UInt64 {
        UInt64(bitPattern: (value &<< 1) ^ (value &>> 63))
    }
}

/// The tags, field number and wire type in one, of the messages of vector_tile.proto 2.1.
/// Source: https://github.com/mapbox/vector-tile-spec/tree/master/2.1
enum TileField {
    static let layer: UInt8 = 3 << 3 | 2

    enum Layer {
        static let name: UInt8 = 1 << 3 | 2
        static let feature: UInt8 = 2 << 3 | 2
        static let key: UInt8 = 3 << 3 | 2
        static let value: UInt8 = 4 << 3 | 2
        static let extent: UInt8 = 5 << 3 | 0
        /// Field 15: its tag is still one byte.
        static let version: UInt8 = 15 << 3 | 0
    }

    enum Feature {
        static let id: UInt8 = 1 << 3 | 0
        static let tags: UInt8 = 2 << 3 | 2
        static let type: UInt8 = 3 << 3 | 0
        static let geometry: UInt8 = 4 << 3 | 2
    }

    enum Value {
        static let string: UInt8 = 1 << 3 | 2
        static let double: UInt8 = 3 << 3 | 1
        static let integer: UInt8 = 4 << 3 | 0
        static let unsigned: UInt8 = 5 << 3 | 0
        static let signed: UInt8 = 6 << 3 | 0
        static let bool: UInt8 = 7 << 3 | 0
    }
}

// SPDX-License-Identifier: MIT

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

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

// SPDX-License-Identifier: MIT

/// The types that a property's values have in vector tiles, in all features together.
public struct FieldKinds: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let number = FieldKinds(rawValue: 1)
    public static let string = FieldKinds(rawValue: 2)
    public static let boolean = FieldKinds(rawValue: 4)

    /// The type of a value by its JSON text. Null has none: tiles leave it out. Arrays and objects are strings there.
    init(ofJSON text: UnsafeRawBufferPointer) {
        switch text.first {
        case UInt8(ascii: "\""), UInt8(ascii: "["), UInt8(ascii: "{"): self = .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): self = .boolean
        case UInt8(ascii: "n"), nil: self = []
        default: self = .number
        }
    }

    /// As TileJSON 3.0 and the MBTiles specification write it.
    public var name: StaticString {
        switch self {
        case .number: "Number"
        case .boolean: "Boolean"
        case .string: "String"
        default: "Mixed"
        }
    }
}

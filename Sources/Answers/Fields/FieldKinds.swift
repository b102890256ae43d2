// SPDX-License-Identifier: MIT

/// The set of types that a property's values have in vector tiles.
public struct FieldKinds: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let number = FieldKinds(rawValue: 1)
    public static let string = FieldKinds(rawValue: 2)
    public static let boolean = FieldKinds(rawValue: 4)

    /// The type of a value by its JSON text. Null has none, since tiles omit it. Arrays and objects are strings.
    init(ofJSON text: UnsafeRawBufferPointer) {
        switch text.first {
        case UInt8(ascii: "\""), UInt8(ascii: "["), UInt8(ascii: "{"): self = .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): self = .boolean
        case UInt8(ascii: "n"), nil: self = []
        default: self = .number
        }
    }

    /// The name in TileJSON 3.0 and the MBTiles specification.
    public var name: StaticString {
        switch self {
        case .number: "Number"
        case .boolean: "Boolean"
        case .string: "String"
        default: "Mixed"
        }
    }
}

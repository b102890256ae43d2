// SPDX-License-Identifier: MIT

/// A vector tile read back, by the specification and without the encoder's code.
public struct DecodedTile: Equatable {
    public enum Value: Hashable, Sendable {
        case string(String)
        case double(Double)
        case integer(Int64)
        case unsigned(UInt64)
        case signed(Int64)
        case bool(Bool)
    }

    public struct Feature: Equatable {
        public var id: UInt64?
        public var x: Int64 = 0
        public var y: Int64 = 0
        public var tags: [String: Value] = [:]

        public init(id: UInt64? = nil, x: Int64 = 0, y: Int64 = 0) {
            self.id = id
            self.x = x
            self.y = y
        }
    }

    public struct Layer: Equatable {
        public var name = ""
        public var version: UInt64 = 1
        public var extent: UInt64 = 4096
        public var keys: [String] = []
        public var values: [Value] = []
        public var features: [Feature] = []
    }

    public struct Malformed: Error { let reason: String }

    public var layers: [Layer] = []

    public init(_ bytes: [UInt8]) throws {
        var message = MessageReader(bytes[...])
        while let field = try message.next() {
            guard field.number == 3, case .bytes(let layer) = field.content else {
                throw Malformed(reason: "a tile has layers only")
            }
            layers.append(try Self.layer(layer))
        }
    }

    private static func layer(_ bytes: ArraySlice<UInt8>) throws -> Layer {
        var layer = Layer()
        var features: [ArraySlice<UInt8>] = []
        var message = MessageReader(bytes)
        while let field = try message.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let name)): layer.name = String(decoding: name, as: UTF8.self)
            case (2, .bytes(let feature)): features.append(feature)
            case (3, .bytes(let key)): layer.keys.append(String(decoding: key, as: UTF8.self))
            case (4, .bytes(let value)): layer.values.append(try Self.value(value))
            case (5, .varint(let extent)): layer.extent = extent
            case (15, .varint(let version)): layer.version = version
            default: throw Malformed(reason: "field \(field.number) in a layer")
            }
        }
        layer.features = try features.map { try feature($0, layer) }
        return layer
    }

    private static func feature(_ bytes: ArraySlice<UInt8>, _ layer: Layer) throws -> Feature {
        var feature = Feature()
        var message = MessageReader(bytes)
        while let field = try message.next() {
            switch (field.number, field.content) {
            case (1, .varint(let id)): feature.id = id
            case (2, .bytes(let packed)):
                let numbers = try MessageReader.varints(packed).map { Int($0) }
                guard numbers.count % 2 == 0 else { throw Malformed(reason: "odd tags") }
                for pair in stride(from: 0, to: numbers.count, by: 2) {
                    guard numbers[pair] < layer.keys.count, numbers[pair + 1] < layer.values.count,
                        feature.tags[layer.keys[numbers[pair]]] == nil
                    else { throw Malformed(reason: "a tag out of range, or twice") }
                    feature.tags[layer.keys[numbers[pair]]] = layer.values[numbers[pair + 1]]
                }
            case (3, .varint(1)): break
            case (4, .bytes(let packed)):
                let geometry = try MessageReader.varints(packed)
                guard geometry.count == 3, geometry[0] == 9 else {
                    throw Malformed(reason: "no single MoveTo")
                }
                feature.x = MessageReader.signed(geometry[1])
                feature.y = MessageReader.signed(geometry[2])
            default: throw Malformed(reason: "field \(field.number) in a feature")
            }
        }
        return feature
    }

    private static func value(_ bytes: ArraySlice<UInt8>) throws -> Value {
        var message = MessageReader(bytes)
        guard let field = try message.next(), try message.next() == nil else {
            throw Malformed(reason: "a value is exactly one field")
        }
        switch (field.number, field.content) {
        case (1, .bytes(let text)): return .string(String(decoding: text, as: UTF8.self))
        case (3, .fixed(let bits)): return .double(Double(bitPattern: bits))
        case (4, .varint(let number)): return .integer(Int64(bitPattern: number))
        case (5, .varint(let number)): return .unsigned(number)
        case (6, .varint(let number)): return .signed(MessageReader.signed(number))
        case (7, .varint(let flag)): return .bool(flag != 0)
        default: throw Malformed(reason: "field \(field.number) in a value")
        }
    }
}

/// A protobuf message's fields, one after the other.
struct MessageReader {
    enum Content: Equatable {
        case varint(UInt64)
        case fixed(UInt64)
        case bytes(ArraySlice<UInt8>)
    }

    struct Field: Equatable {
        let number: Int
        let content: Content
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func next() throws -> Field? {
        guard !rest.isEmpty else { return nil }
        let tag = try varint()
        let number = Int(tag >> 3)
        switch tag & 7 {
        case 0: return Field(number: number, content: .varint(try varint()))
        case 1:
            let bytes = try take(8)
            return Field(number: number, content: .fixed(bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }))
        case 2: return Field(number: number, content: .bytes(try take(Int(try varint()))))
        default: throw DecodedTile.Malformed(reason: "wire type \(tag & 7)")
        }
    }

    private mutating func take(_ count: Int) throws -> ArraySlice<UInt8> {
        guard count <= rest.count else { throw DecodedTile.Malformed(reason: "cut off") }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    private mutating func varint() throws -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: 0, to: 70, by: 7) {
            guard let byte = rest.popFirst() else { throw DecodedTile.Malformed(reason: "cut off") }
            value |= UInt64(byte & 0x7F) << UInt64(shift)
            if byte < 0x80 { return value }
        }
        throw DecodedTile.Malformed(reason: "a varint of more than ten bytes")
    }

    static func varints(_ bytes: ArraySlice<UInt8>) throws -> [UInt64] {
        var reader = MessageReader(bytes)
        var numbers: [UInt64] = []
        while !reader.rest.isEmpty { numbers.append(try reader.varint()) }
        return numbers
    }

    static func signed(_ value: UInt64) -> Int64 {
        Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }
}

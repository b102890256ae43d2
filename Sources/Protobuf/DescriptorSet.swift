// SPDX-License-Identifier: MIT

/// The messages, enumerations and services of a compiled .proto file with those that it imports, as a FileDescriptorSet
/// has them. Source: google/protobuf/descriptor.proto
public struct DescriptorSet: Sendable {
    /// A field of a message.
    public struct Field: Sendable {
        /// The numbers of FieldDescriptorProto.Type.
        public enum Kind: UInt64, Sendable {
            case double = 1
            case float, int64, uint64, int32, fixed64, fixed32, bool, string
            case message = 11
            case bytes, uint32, enumeration, sfixed32, sfixed64, sint32, sint64
        }

        public internal(set) var number = 0
        /// As in the file, in snake case.
        public internal(set) var name = ""
        /// As in protobuf's JSON, in camel case.
        public internal(set) var jsonName = ""
        public internal(set) var kind = Kind.double
        public internal(set) var isRepeated = false
        /// The full name of its message or enumeration, without a dot before it.
        public internal(set) var typeName = ""
        /// The index of its `oneof`; nil if it is in none. `optional` is not a `oneof` here.
        public internal(set) var oneof: Int?
        /// Whether a value of zero differs from none.
        public internal(set) var hasPresence = false
    }

    public struct Message: Sendable {
        /// The full name, such as `clusterd.v1.Feature`.
        public let name: String
        /// In the file's order.
        public let fields: [Field]
        /// Whether it is an entry of a map: a key and a value.
        public let isMapEntry: Bool
        private let byNumber: [Int: Int]

        init(name: String, fields: [Field], isMapEntry: Bool) {
            (self.name, self.fields, self.isMapEntry) = (name, fields, isMapEntry)
            byNumber = Dictionary(fields.enumerated().map { ($1.number, $0) }, uniquingKeysWith: { first, _ in first })
        }

        public subscript(number: Int) -> Field? { byNumber[number].map { fields[$0] } }
    }

    public struct Enumeration: Sendable {
        /// The full name.
        public let name: String
        /// In the file's order.
        public let values: [(name: String, number: Int32)]
    }

    public struct Method: Sendable {
        public internal(set) var name = ""
        /// The full names of its messages.
        public internal(set) var input = "", output = ""
        public internal(set) var takesStream = false, returnsStream = false
        public internal(set) var hasNoSideEffects = false
    }

    public struct Service: Sendable {
        /// The full name, such as `clusterd.v1.ClusterService`.
        public let name: String
        public let methods: [Method]
    }

    /// A file's FileDescriptorProto as it was compiled, which reflection hands out.
    public struct File: Sendable {
        public let name: String
        public let bytes: ArraySlice<UInt8>
        /// Names of the files that it imports.
        public let dependencies: [String]
        /// Full names of what it declares: messages, enumerations, services and methods.
        public let symbols: [String]
    }

    public private(set) var messages: [String: Message] = [:]
    public private(set) var enumerations: [String: Enumeration] = [:]
    /// In the files' order.
    public private(set) var services: [Service] = []
    public private(set) var files: [File] = []

    /// A set without files.
    public init() {}

    /// - Parameter bytes: a FileDescriptorSet, as `protoc --include_imports --descriptor_set_out` writes it.
    /// - Complexity: O(bytes); some milliseconds for a file of a thousand lines.
    public init(_ bytes: [UInt8]) throws(WireError) {
        var set = MessageReader(bytes[...])
        while let field = try set.next() {
            if case (1, .bytes(let file)) = field { try read(file: file) }
        }
    }

    private mutating func read(file bytes: ArraySlice<UInt8>) throws(WireError) {
        var (name, package) = ("", "")
        var (dependencies, symbols): ([String], [String]) = ([], [])
        var parts: [(kind: Int, bytes: ArraySlice<UInt8>)] = []
        var reader = MessageReader(bytes)
        while let (number, value) = try reader.next() {
            guard case .bytes(let content) = value else { continue }
            switch number {
            case 1: name = Self.text(content)
            case 2: package = Self.text(content)
            case 3: dependencies.append(Self.text(content))
            case 4, 5, 6: parts.append((number, content))
            default: break
            }
        }
        let scope = package.isEmpty ? "" : package + "."
        for (kind, content) in parts {
            switch kind {
            case 4: try read(message: content, in: scope, &symbols)
            case 5: try read(enumeration: content, in: scope, &symbols)
            default: try read(service: content, in: scope, &symbols)
            }
        }
        files.append(File(name: name, bytes: bytes, dependencies: dependencies, symbols: symbols))
    }

    private mutating func read(
        message bytes: ArraySlice<UInt8>, in scope: String, _ symbols: inout [String]
    ) throws(WireError) {
        var name = ""
        var fields: [Field] = []
        var nested: [(kind: Int, bytes: ArraySlice<UInt8>)] = []
        var isMapEntry = false
        var reader = MessageReader(bytes)
        while let (number, value) = try reader.next() {
            guard case .bytes(let content) = value else { continue }
            switch number {
            case 1: name = scope + Self.text(content)
            case 2: fields.append(try Self.field(content))
            case 3, 4: nested.append((number, content))
            case 7: isMapEntry = try Self.flag(7, in: content)
            default: break
            }
        }
        symbols.append(name)
        messages[name] = Message(name: name, fields: fields, isMapEntry: isMapEntry)
        for (kind, content) in nested {
            if kind == 3 {
                try read(message: content, in: name + ".", &symbols)
            } else {
                try read(enumeration: content, in: name + ".", &symbols)
            }
        }
    }

    private static func field(_ bytes: ArraySlice<UInt8>) throws(WireError) -> Field {
        var field = Field()
        var isOptional = false
        var reader = MessageReader(bytes)
        while let (number, value) = try reader.next() {
            switch (number, value) {
            case (1, .bytes(let content)): field.name = text(content)
            case (3, .varint(let value)): field.number = Int(truncatingIfNeeded: value)
            case (4, .varint(let label)): field.isRepeated = label == 3
            case (5, .varint(let kind)): field.kind = Field.Kind(rawValue: kind) ?? .bytes
            case (6, .bytes(let content)): field.typeName = String(text(content).drop { $0 == "." })
            case (9, .varint(let index)): field.oneof = Int(truncatingIfNeeded: index)
            case (10, .bytes(let content)): field.jsonName = text(content)
            case (17, .varint(let value)): isOptional = value != 0
            default: break
            }
        }
        field.hasPresence = field.oneof != nil || field.kind == .message
        // The compiler makes a `oneof` of one member for each `optional`.
        if isOptional { field.oneof = nil }
        return field
    }

    private mutating func read(
        enumeration bytes: ArraySlice<UInt8>, in scope: String, _ symbols: inout [String]
    ) throws(WireError) {
        var name = ""
        var values: [(name: String, number: Int32)] = []
        var reader = MessageReader(bytes)
        while let (number, value) = try reader.next() {
            guard case .bytes(let content) = value else { continue }
            if number == 1 { name = scope + Self.text(content) }
            guard number == 2 else { continue }
            var entry = (name: "", number: Int32(0))
            var members = MessageReader(content)
            while let (number, value) = try members.next() {
                switch (number, value) {
                case (1, .bytes(let content)): entry.name = Self.text(content)
                case (2, .varint(let value)): entry.number = Int32(truncatingIfNeeded: value)
                default: break
                }
            }
            values.append(entry)
        }
        symbols.append(name)
        enumerations[name] = Enumeration(name: name, values: values)
    }

    private mutating func read(
        service bytes: ArraySlice<UInt8>, in scope: String, _ symbols: inout [String]
    ) throws(WireError) {
        var name = ""
        var methods: [Method] = []
        var reader = MessageReader(bytes)
        while let (number, value) = try reader.next() {
            guard case .bytes(let content) = value else { continue }
            if number == 1 { name = scope + Self.text(content) }
            guard number == 2 else { continue }
            var method = Method()
            var members = MessageReader(content)
            while let (number, value) = try members.next() {
                switch (number, value) {
                case (1, .bytes(let content)): method.name = Self.text(content)
                case (2, .bytes(let content)): method.input = String(Self.text(content).drop { $0 == "." })
                case (3, .bytes(let content)): method.output = String(Self.text(content).drop { $0 == "." })
                case (4, .bytes(let content)): method.hasNoSideEffects = try Self.flag(34, in: content)
                case (5, .varint(let value)): method.takesStream = value != 0
                case (6, .varint(let value)): method.returnsStream = value != 0
                default: break
                }
            }
            methods.append(method)
        }
        symbols.append(name)
        symbols += methods.map { "\(name).\($0.name)" }
        services.append(Service(name: name, methods: methods))
    }

    /// Whether a field of options is 1: `map_entry`, or an idempotency level of NO_SIDE_EFFECTS.
    private static func flag(_ field: Int, in options: ArraySlice<UInt8>) throws(WireError) -> Bool {
        var reader = MessageReader(options)
        while let (number, value) = try reader.next() {
            if number == field, value == .varint(1) { return true }
        }
        return false
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}

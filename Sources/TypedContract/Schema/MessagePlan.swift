// SPDX-License-Identifier: MIT
import CDescriptors
import ClusterProtocol
import Protobuf

/// A message of the contract, prepared for reading and writing: its fields by number and by name, and what each is in
/// the JSON contract.
final class MessagePlan: Sendable {
    /// The full name, such as `clusterd.v1.Feature`.
    let name: String
    /// In the file's order.
    let fields: [FieldPlan]
    let isMapEntry: Bool
    /// By number, the field's index plus 1. Numbers of the contract are small.
    private let indexes: [UInt8]

    init(_ message: DescriptorSet.Message, fields: [FieldPlan]) {
        (name, self.fields, isMapEntry) = (message.name, fields, message.isMapEntry)
        var indexes = [UInt8](repeating: 0, count: (fields.map(\.number).max() ?? 0) + 1)
        for (index, field) in fields.enumerated() { indexes[field.number] = UInt8(clamping: index + 1) }
        self.indexes = indexes
    }

    /// The index of the field with a number.
    @inline(__always) func index(of number: Int) -> Int? {
        guard number < indexes.count, indexes[number] > 0 else { return nil }
        return Int(indexes[number]) &- 1
    }

    /// The field with a name in the .proto file.
    func field(named name: String) -> FieldPlan? { fields.first { $0.name == name } }

    /// The name without the package.
    var shortName: Substring { name.split(separator: ".").last ?? "" }
}

/// A field of a message.
struct FieldPlan: Sendable {
    let number: Int
    /// As in the .proto file.
    let name: String
    /// As in protobuf's JSON mapping.
    let jsonName: String
    /// As in the JSON contract.
    let member: String
    let memberBytes: [UInt8]
    let kind: DescriptorSet.Field.Kind
    let isRepeated: Bool
    /// Whether a value of zero differs from none.
    let hasPresence: Bool
    /// The index of its `oneof`.
    let oneof: Int?
    /// The indexes of the other fields of its `oneof`.
    let siblings: [Int]
    /// What it is in the JSON contract.
    let shape: Shape
    /// The index of its message among all plans.
    let message: Int
    /// The values of its enumeration.
    let words: [Word]
    /// Whether the JSON contract requires it, so that a number of 0 has to be there.
    let isRequired: Bool

    /// The plan of its message.
    var plan: MessagePlan { Contract.plans[message] }

    /// The step of a path that leads to it.
    var step: String { "." + member }

    /// How a single value is laid out.
    var layout: WireType {
        switch kind {
        case .double, .fixed64, .sfixed64: .fixed64
        case .float, .fixed32, .sfixed32: .fixed32
        case .string, .bytes, .message: .lengthDelimited
        default: .varint
        }
    }
}

/// A value of an enumeration.
struct Word: Sendable {
    let number: Int32
    /// As in the .proto file, which is also its name in protobuf's JSON mapping.
    let name: String
    /// As in the JSON contract; nil if it has no such value.
    let word: String?
}

/// The compiled .proto files, prepared once.
package enum Contract {
    package static let descriptors: DescriptorSet = (try? DescriptorSet(EmbeddedDescriptors.bytes)) ?? DescriptorSet()

    /// The index of each message among the plans.
    private static let indexes: [String: Int] = {
        let names = descriptors.messages.keys.sorted()
        return Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
    }()

    /// All messages, by name.
    static let plans: [MessagePlan] = {
        let required = requiredMembers
        return descriptors.messages.values.sorted { $0.name < $1.name }.map { message in
            MessagePlan(
                message,
                fields: message.fields.map { field in plan(field, of: message, required[message.name] ?? []) })
        }
    }()

    static func plan(_ name: String) -> MessagePlan? { indexes[name].map { plans[$0] } }

    private static func plan(
        _ field: DescriptorSet.Field, of message: DescriptorSet.Message, _ required: Set<String>
    ) -> FieldPlan {
        let isMap = field.isRepeated && descriptors.messages[field.typeName]?.isMapEntry == true
        let meaning = FieldMeaning(field, of: message.name, isMap: isMap)
        let siblings = message.fields.indices.filter {
            field.oneof != nil && message.fields[$0].oneof == field.oneof && message.fields[$0].number != field.number
        }
        return FieldPlan(
            number: field.number, name: field.name, jsonName: field.jsonName, member: meaning.member,
            memberBytes: Array(meaning.member.utf8), kind: field.kind, isRepeated: field.isRepeated,
            hasPresence: field.hasPresence, oneof: field.oneof, siblings: siblings, shape: meaning.shape,
            message: indexes[field.typeName] ?? 0,
            words: descriptors.enumerations[field.typeName].map(FieldMeaning.words) ?? [],
            isRequired: required.contains(meaning.member))
    }

    /// By request, the names of the numbers that a method requires.
    private static var requiredMembers: [String: Set<String>] {
        var members: [String: Set<String>] = [:]
        for service in descriptors.services {
            for method in service.methods {
                let name = "\(service.name)/\(method.name)"
                let params = MethodDeclaration.all.first { $0.fullName == name }?.params ?? []
                members[method.input] = Set(
                    params.filter { $0.isRequired && $0.type.integers != nil }.map(\.name))
            }
        }
        return members
    }
}

/// The compiled .proto files, as `scripts/generate-descriptors` has written them.
enum EmbeddedDescriptors {
    /// A FileDescriptorSet.
    static let bytes = Array(UnsafeBufferPointer(start: descriptor_set_bytes(), count: descriptor_set_size()))
}

// SPDX-License-Identifier: MIT
import Expressions
import JSON

/// What a message changes: features to put in and ids to remove, as JSON texts.
package struct MappedMessage: Equatable, Sendable {
    package var upserts: [[UInt8]] = []
    package var removals: [[UInt8]] = []

    /// The item of `ApplyChanges` for it.
    func item(position: String) -> [UInt8] {
        var text = ByteWriter()
        text.append("{\"position\":")
        text.append(json: position)
        for (name, values) in [(",\"upsert\":[" as StaticString, upserts), (",\"remove\":[", removals)] {
            guard !values.isEmpty else { continue }
            text.append(name)
            for (index, value) in values.enumerated() {
                if index > 0 { text.append(",") }
                text.append(contentsOf: value)
            }
            text.append("]")
        }
        text.append("}")
        return text.bytes
    }
}

/// Why a message, or a feature of it, is left out. Raw values are the reasons in metrics and in the file of rejects.
package enum RejectReason: String, Error, Sendable, CaseIterable {
    case badJSON
    case notAnObject
    case badArray
    case noKey
    case noPosition
    case badIdentifier
    case expressionFailed
    /// The daemon says that it is not a valid feature.
    case invalidFeature
}

/// How messages become changes: by expressions, of which each reads a message's members as properties and its key as
/// the id.
package struct MessageMapping: Sendable {
    package var longitude: Expression?
    package var latitude: Expression?
    package var identifier: Expression?
    /// By property; nil: all members of the message.
    package var properties: [(name: String, value: Expression)]?
    package var isDeletion: Expression?

    package init() {}

    /// The members in which a position is looked for if no expression says where it is.
    private static let longitudes = ["longitude", "lon", "lng", "long", "x"]
    private static let latitudes = ["latitude", "lat", "y"]

    /// How deeply a message may nest arrays and objects.
    private static let mostDepth = 64

    package func map(_ message: BrokerMessage) throws(RejectReason) -> MappedMessage {
        if message.body.allSatisfy({ $0 <= UInt8(ascii: " ") }) {
            guard let key = message.key else { throw .noKey }
            return MappedMessage(removals: [JSONValue.string(key).bytes])
        }
        let value: JSONValue
        do throws(JSONError) { value = try JSONReader.parse(message.body, maximumDepth: Self.mostDepth) } catch {
            throw .badJSON
        }
        let text = Array(message.body.drop { $0 <= UInt8(ascii: " ") })
        switch value {
        case .object(let object):
            guard object["type"] != .string("Feature") else {
                return MappedMessage(upserts: [try feature(text, object, message.key)])
            }
            return try map(object, text, message.key)
        case .array(let values):
            let elements = JSONText.elements(ofValidated: text) ?? []
            var mapped = MappedMessage()
            for (value, element) in zip(values, elements) {
                guard case .object(let object) = value, object["type"] == .string("Feature") else { throw .badArray }
                mapped.upserts.append(try feature(element, object, message.key))
            }
            return mapped
        default: throw .notAnObject
        }
    }

    /// A feature as it is, with the key as its id if it has none.
    private func feature(_ text: [UInt8], _ object: JSONObject, _ key: String?) throws(RejectReason) -> [UInt8] {
        if let id = object["id"], id != JSONValue.null { return text }
        guard let key else { throw .noKey }
        let id = JSONValue.string(key).bytes
        // The last member of a name counts, so a null is left where it is.
        var rest = text
        while let last = rest.last, last <= UInt8(ascii: " ") { rest.removeLast() }
        return rest.dropLast() + Array(",\"id\":".utf8) + id + [UInt8(ascii: "}")]
    }

    private func map(_ object: JSONObject, _ text: [UInt8], _ key: String?) throws(RejectReason) -> MappedMessage {
        let keyValue = key.map { JSONValue.string($0) } ?? .null
        func evaluate(_ expression: Expression) throws(RejectReason) -> JSONValue {
            do throws(EvaluationError) {
                return try expression.evaluate(properties: object, identifier: keyValue)
            } catch { throw .expressionFailed }
        }
        var id = keyValue
        if let identifier { id = try evaluate(identifier) }
        switch id {
        case .string, .number: break
        case .null: throw .noKey
        default: throw .badIdentifier
        }
        if let isDeletion, try evaluate(isDeletion) == .bool(true) { return MappedMessage(removals: [id.bytes]) }
        func coordinate(_ expression: Expression?, _ names: [String]) throws(RejectReason) -> Double {
            let value =
                if let expression { try evaluate(expression) } else { names.lazy.compactMap { object[$0] }.first }
            guard case .number(let number)? = value, number.isFinite else { throw .noPosition }
            return number
        }
        let position = (try coordinate(longitude, Self.longitudes), try coordinate(latitude, Self.latitudes))
        var feature = ByteWriter()
        feature.append("{\"type\":\"Feature\",\"id\":")
        feature.append(id)
        feature.append(",\"geometry\":{\"type\":\"Point\",\"coordinates\":[")
        feature.append(number: position.0)
        feature.append(",")
        feature.append(number: position.1)
        feature.append("]},\"properties\":")
        if let properties {
            feature.append("{")
            for (index, property) in properties.enumerated() {
                if index > 0 { feature.append(",") }
                feature.append(json: property.name)
                feature.append(":")
                feature.append(try evaluate(property.value))
            }
            feature.append("}")
        } else {
            feature.append(contentsOf: text)
        }
        feature.append("}")
        return MappedMessage(upserts: [feature.bytes])
    }
}

extension JSONValue {
    /// The value's text.
    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.append(self)
        return writer.bytes
    }
}

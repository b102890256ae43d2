// SPDX-License-Identifier: MIT
import ClusterClient
import JSON

/// Params as JSON text. The user's text is sent unchanged, so that long integers keep their digits.
struct ParamsText {
    private var members: [(name: String, text: String)] = []

    init(_ object: JSONObject = [:]) {
        for (name, value) in object.members { self[name] = value.text }
    }

    /// A member's JSON text.
    subscript(name: String) -> String? {
        get { members.last { $0.name == name }?.text }
        set {
            members.removeAll { $0.name == name }
            if let newValue { members.append((name, newValue)) }
        }
    }

    /// Adds the members of a JSON object's text.
    mutating func add(object text: String) throws(JSONError) {
        guard try JSONReader.parse(text).asObject != nil else {
            throw JSONError(kind: .syntax, offset: 0, message: "a JSON object is expected")
        }
        var text = text
        text.withUTF8 { bytes in
            for (key, value) in JSONMembers(ofValidated: UnsafeRawBufferPointer(bytes).trimmed) {
                self[JSONText.string(inside: key)] = String(decoding: value, as: UTF8.self)
            }
        }
    }

    var text: String {
        let members = members.map { JSONValue.string($0.name).text + ":" + $0.text }
        return "{" + members.joined(separator: ",") + "}"
    }

    var params: CallParams { CallParams(text: text) }
}

extension ParamsText {
    /// The texts of the features in a Feature, a FeatureCollection or an array of features.
    static func features(in text: String) throws(JSONError) -> [String] {
        let value = try JSONReader.parse(text)
        var text = text
        return text.withUTF8 { bytes in
            var list = UnsafeRawBufferPointer(bytes).trimmed
            if value["features"]?.asArray != nil {
                for (key, value) in JSONMembers(ofValidated: list)
                where JSONText.string(inside: key) == "features" {
                    list = value
                }
            }
            guard let elements = JSONElements(ofValidated: list) else {
                return [String(decoding: list, as: UTF8.self)]
            }
            return elements.map { String(decoding: $0, as: UTF8.self) }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes without white space at both ends.
    fileprivate var trimmed: UnsafeRawBufferPointer {
        let end = lastIndex { $0 > UInt8(ascii: " ") }.map { $0 + 1 } ?? 0
        let start = firstIndex { $0 > UInt8(ascii: " ") } ?? end
        return UnsafeRawBufferPointer(rebasing: self[start..<Swift.max(start, end)])
    }
}

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
        let members = try JSONDocument(Array(text.utf8)).withRoot { root in
            root.kind == .object
                ? root.members.map { ($0.string ?? "", String(decoding: $1.rawText, as: UTF8.self)) } : nil
        }
        guard let members else {
            throw JSONError(kind: .syntax, offset: 0, message: "a JSON object is expected")
        }
        for (name, text) in members { self[name] = text }
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
        try JSONDocument(Array(text.utf8)).withRoot { root in
            let list = root["features"] ?? root
            return (list.kind == .array ? Array(list.elements) : [root]).map {
                String(decoding: $0.rawText, as: UTF8.self)
            }
        }
    }
}

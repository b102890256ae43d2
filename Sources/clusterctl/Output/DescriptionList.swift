// SPDX-License-Identifier: MIT
import ClusterClient
import JSON
import Rendering

/// A list with names on the left and values on the right.
enum DescriptionList {
    static func text(_ entries: [(name: String, value: String)], style: Style) -> String {
        let width = entries.map { DisplayWidth.of($0.name) }.max() ?? 0
        return entries.map { entry in
            let padding = String(repeating: " ", count: width - DisplayWidth.of(entry.name) + 2)
            return style.bold(PrintableText.of(entry.name)) + padding + PrintableText.of(entry.value) + "\n"
        }.joined()
    }

    private static func files(of source: SourceDescription) -> String {
        let all = Quantity.bytes(Double(source.fileBytes))
        guard source.indexFileBytes > 0 else { return all }
        return "\(all), \(Quantity.bytes(Double(source.indexFileBytes))) of them the index"
    }

    /// A source's description for people.
    static func entries(of source: SourceDescription) -> [(name: String, value: String)] {
        var entries = [
            ("source", source.name), ("state", source.state), ("points", Quantity.grouped(source.points)),
            ("revision", String(source.revision)), ("memory", Quantity.bytes(Double(source.memoryBytes))),
            ("built in", Quantity.duration(milliseconds: source.buildMilliseconds)),
        ]
        if source.fileBytes > 0 { entries.append(("in files", files(of: source))) }
        if let box = source.json["bbox"]?.asArray {
            let bounds = box.map { $0.asNumber.map { Quantity.fixed($0, decimals: 4) } ?? $0.text }
            entries.append(("bounds", bounds.joined(separator: ", ")))
        }
        for (label, key) in [("created", "createdAt"), ("updated", "updatedAt"), ("damage", "damage")] {
            if let value = source.json[key] { entries.append((label, value.asString ?? value.text)) }
        }
        if let replication = source.json["replication"]?.asObject {
            entries += ReplicationText.entries(of: replication)
            if let note = source.json["note"]?.asString { entries.append(("note", note)) }
        }
        if !source.viewNames.isEmpty { entries.append(("views", source.viewNames.joined(separator: ", "))) }
        entries.append(("options", FeatureTable.properties(source.options.members)))
        return entries
    }
}

/// How a source follows its table, for people.
enum ReplicationText {
    static func entries(of replication: JSONObject) -> [(name: String, value: String)] {
        var entries = [
            ("table", replication["table"]?.asString ?? ""), ("replication", summary(of: replication)),
            ("position", replication["position"]?.asString ?? "none yet"),
        ]
        if let reasons = replication["skippedReasons"]?.asObject, !reasons.isEmpty {
            let counts = reasons.members.map { "\($0.value.asInteger ?? 0) \($0.key)" }
            entries.append(("left out", counts.joined(separator: ", ")))
        }
        return entries
    }

    /// Such as `following, 0 B and 0 ms behind`.
    static func summary(of replication: JSONObject) -> String {
        let state = replication["state"]?.asString ?? ""
        let bytes = Quantity.bytes(replication["lagBytes"]?.asNumber ?? 0)
        let time = Quantity.duration(milliseconds: replication["lagMs"]?.asNumber ?? 0)
        return "\(state), \(bytes) and \(time) behind"
    }
}

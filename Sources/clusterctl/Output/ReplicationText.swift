// SPDX-License-Identifier: MIT
import ClusterClient
import JSON
import Rendering

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

// SPDX-License-Identifier: MIT
import ClusterProtocol

/// The daemon's error messages in this program's terms: commands instead of methods, options and operands
/// instead of params.
enum DaemonMessage {
    /// The commands of methods that have one. `call` reaches the others.
    static let commands: [String: String] = [
        "GetClusters": "clusters", "GetTile": "tile", "GetChildren": "children", "GetLeaves": "leaves",
        "GetClusterExpansionZoom": "zoom", "GetConvexHull": "hull", "LocateFeature": "locate",
        "TopFeatures": "top", "GetHistogram": "histogram", "GetGrid": "grid", "WatchClusters": "watch",
        "CreateSource": "create", "ImportFeatures": "import", "LoadFile": "load",
        "UpdateFeatures": "update", "UpdateOptions": "options", "PublishTiles": "publish",
        "DeleteSource": "delete", "GetFeatures": "export", "GetSource": "source", "ListSources": "sources",
        "EvaluateExpression": "eval", "Check": "health", "GetServerInfo": "info", "GetStats": "stats",
        "ExplainAccess": "access explain",
    ]

    /// Params that are operands, or options whose name is not the param's in lower case with dashes.
    private static let names: [String: String] = [
        "source": "SOURCE", "clusterId": "CLUSTER", "featureId": "FEATURE", "path": "the path",
        "expression": "EXPRESSION", "z": "Z/X/Y", "x": "Z/X/Y", "y": "Z/X/Y",
        "ttlSeconds": "--ttl", "projection": "--planar", "clusterProperties": "--cluster-property",
        "indexedProperties": "--indexed-property", "views": "--view",
        "mode": "--append", "encoding": "--mvt", "compression": "--uncompressed", "format": "--prometheus",
    ]

    /// A message in the terms of this program's users.
    static func text(_ message: String) -> String {
        var text = ""
        var rest = message[...]
        while !rest.isEmpty {
            let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "/" || $0 == "." || $0 == "_" }
            guard !word.isEmpty else {
                text.append(rest.removeFirst())
                continue
            }
            rest = rest[word.endIndex...]
            text += translated(word)
        }
        return text
    }

    private static func translated(_ word: Substring) -> String {
        let core = word.hasSuffix(".") ? word.dropLast() : word
        let end = word.hasSuffix(".") ? "." : ""
        if core.hasPrefix("params.") {
            return param(core.dropFirst("params.".count).split(separator: ".").map(String.init)) + end
        }
        let method = core.split(separator: "/").last.map(String.init) ?? ""
        let isWhole = core == method || core.contains("Service/")
        // "Check" alone is an English word.
        guard isWhole, MethodDeclaration.all.contains(where: { $0.name == method }),
            method != "Check" || core != method
        else { return String(word) }
        return "'clusterctl \(commands[method] ?? "call \(method)")'" + end
    }

    /// - Parameter path: such as `options`, `clusterProperties`, `sum`.
    private static func param(_ path: [String]) -> String {
        let path = path.count > 1 && path[0] == "options" ? path.dropFirst() : path[...]
        guard let name = path.first else { return "params" }
        let inner = path.dropFirst().filter { $0 != "planar" }.map { " \($0)" }.joined()
        return (names[name] ?? "--" + dashed(name)) + inner
    }

    private static func dashed(_ name: String) -> String {
        name.reduce(into: "") { text, letter in text += letter.isUppercase ? "-" + letter.lowercased() : String(letter)
        }
    }
}

// SPDX-License-Identifier: MIT
import GeoJSON
import JSON

/// The result of an import.
public struct ImportOutcome: Sendable {
    /// The source after the import became visible.
    public let description: SourceDescription
    /// The number of valid features, including those that the source's filter leaves out.
    public let accepted: Int
    /// The number of invalid features that were skipped, by reason.
    public let skippedReasons: [String: Int]

    /// Warnings: what in the data or the options is probably a mistake, and what to do.
    public let warnings: [String]

    /// The number of invalid features that were skipped.
    public var skipped: Int { skippedReasons.values.reduce(0, +) }

    /// Writes the description with the counts.
    public func write(into output: inout ByteWriter) {
        var object = description.json
        object["accepted"] = .number(Double(accepted))
        object["skipped"] = .number(Double(skipped))
        let reasons = skippedReasons.sorted { $0.key < $1.key }
        object["skippedReasons"] = .object(JSONObject(reasons.map { ($0.key, .number(Double($0.value))) }))
        object["warnings"] = Self.json(warnings)
        output.append(.object(object))
    }

    /// The member `warnings`; nil if there are none.
    static func json(_ warnings: [String]) -> JSONValue? {
        warnings.isEmpty ? nil : .array(warnings.map { .string($0) })
    }

    /// Writes the member `warnings`, if there are any.
    public static func write(warnings: [String], into output: inout ByteWriter) {
        guard let list = json(warnings) else { return }
        output.append(",\"warnings\":")
        output.append(list)
    }
}

/// The warnings of an answer about data and options that are probably mistaken.
enum ImportWarnings {
    /// - Parameters:
    ///   - advice: what the reader has found.
    ///   - accepted: the number of valid features.
    ///   - loaded: the number of their rows that passed the source's filter.
    static func of(
        _ advice: ImportAdvice, _ options: SourceOptions, store: FeatureStore, accepted: Int, loaded: Int
    ) -> [String] {
        var warnings = advice.warnings(options.featureRules)
        guard accepted > 0 else { return warnings }
        if loaded == 0, options.filter != nil {
            warnings.append("none of \(accepted) features passes the source's option filter")
        }
        var names = options.readNames
        if let name = options.promoteId, advice.promoted == 0 { names.insert(name) }
        return warnings + missing(names, of: store, options)
    }

    /// What is probably mistaken about named views: they show nothing, or read properties that no feature has.
    static func views(of revision: Revision) -> [String] {
        guard revision.pointCount > 0 else { return [] }
        let ofSource = revision.options.readNames
        return revision.options.views.flatMap { option -> [String] in
            let count = revision.named(option.name)?.pointCount
            let empty =
                count == 0 ? ["the view \(option.name) shows none of the source's \(revision.pointCount) points"] : []
            let names = option.propertyNames.subtracting(ofSource)
            return empty + missing(names, of: revision.store) { _ in "the view \(option.name) reads" }
        }
    }

    /// What to do after a change of the option `geometries`: only the points of areas and lines were kept.
    static func keptPoints(_ count: Int) -> String {
        "the option geometries applies to features that come from now on; the source's \(count) keep their points: "
            + "import them again to apply it to them"
    }

    /// Which of the properties that options read no feature has.
    static func missing(
        _ names: Set<String>, of store: FeatureStore, _ options: SourceOptions
    ) -> [String] {
        missing(names, of: store) {
            $0 == options.promoteId ? "promoteId names" : "the source's options read"
        }
    }

    /// Which of some names no feature has as a property.
    ///
    /// - Parameters:
    ///   - most: the most features to examine.
    ///   - reader: what uses a name, with its verb.
    static func missing(
        _ names: Set<String>, of store: FeatureStore, lookingAt most: Int = PropertyNames.mostFeatures,
        reader: (String) -> String
    ) -> [String] {
        guard !names.isEmpty, store.count > 0 else { return [] }
        let found = PropertyNames(of: store, until: names, lookingAt: most)
        return names.filter { !found.contains($0) }.sorted().map { name in
            let whose = found.looked < store.count ? "none of the first \(found.looked) features" : "no feature"
            let meant = found.nearest(to: name).map { ": did you mean \"\($0)\"?" } ?? ""
            return "\(whose) has the property \"\(name)\" that \(reader(name))\(meant)"
        }
    }
}

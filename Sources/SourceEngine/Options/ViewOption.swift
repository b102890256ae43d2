// SPDX-License-Identifier: MIT
import JSON

/// A further way to cluster a source's features: one entry of the option `views`.
public struct ViewOption: Sendable {
    public let name: SourceName
    /// The entry's value as given.
    public let source: JSONValue
    /// The source's options with those of the view in their place. They have no views.
    public let options: SourceOptions
    /// Which of the source's features the view shows.
    package let selection: ViewSelection

    /// The most views of a source.
    public static let most = 64

    /// The options that a view may have of its own.
    public static let names = [
        "radius", "extent", "minZoom", "maxZoom", "minPoints", "filter", "partitionBy", "weight", "sortKey",
        "clusterProperties", "clusterIds", "precision",
    ]

    /// - Parameters:
    ///   - base: the source's options. What the view leaves out is as there; what is null has its default.
    ///   - path: that of the entry, for messages.
    init(_ name: SourceName, reading value: JSONValue, of base: SourceOptions, path: String) throws(SourceError) {
        guard case .object(let object) = value else {
            throw .invalidParameter(path: path, message: "must be an object of the options that the view has")
        }
        var merged = base.members
        merged["views"] = nil
        for (option, value) in object.members {
            guard Self.names.contains(option) else {
                throw .invalidParameter(
                    path: "\(path).\(option)",
                    message: "is not an option of a view; a view takes \(Self.names.joined(separator: ", "))")
            }
            merged[option] = value == .null ? nil : value
        }
        self.name = name
        source = value
        options = try SourceOptions(reading: .object(merged), path: path)
        let own = { (name: String) in object[name].map { $0 != .null } ?? false }
        selection = ViewSelection(
            filter: own("filter") ? options.filter : nil, weight: own("weight") ? options.weight : nil)
    }

    /// Reads the option `views`.
    static func read(_ value: JSONValue, of base: SourceOptions, path: String) throws(SourceError) -> [ViewOption] {
        guard case .object(let object) = value else {
            throw .invalidParameter(path: path, message: "must be an object of options by the views' names")
        }
        guard object.members.count <= most else {
            throw .invalidParameter(
                path: path, message: "has \(object.members.count) views; a source has at most \(most)")
        }
        var views: [ViewOption] = []
        for (text, value) in object.members {
            let path = "\(path).\(text)"
            guard let name = SourceName(text) else {
                throw .invalidParameter(path: path, message: "has a name that does not match \(SourceName.pattern)")
            }
            views.append(try ViewOption(name, reading: value, of: base, path: path))
        }
        return views
    }

    /// Whether the view has the same name and clusters as another of the same features.
    func isClustered(as other: ViewOption) -> Bool {
        name == other.name
            && options.clusteringIdentity(selection) == other.options.clusteringIdentity(other.selection)
    }

    /// Whether an update can be made in the view without clustering it again, if it is small.
    var followsUpdates: Bool {
        options.minPoints <= 2 && !(options.generateId && (!selection.isOfAll || options.sortKey != nil))
            && options.clusterProperties.allSatisfy { $0.property.aggregate.followsUpdates }
    }
}

/// Which of a source's features a view shows: those that pass its filter and whose weight, if it has one of its own, is
/// a number above 0.
package struct ViewSelection: Sendable {
    package let filter: CompiledOption?
    package let weight: CompiledOption?

    /// All features.
    package static let all = ViewSelection(filter: nil, weight: nil)

    package var isOfAll: Bool { filter == nil && weight == nil }
}

extension SourceOptions {
    /// What the clusters of some features depend on. Equal ones give equal clusters.
    func clusteringIdentity(_ selection: ViewSelection = .all) -> JSONValue {
        clusteringIdentity(filter: selection.filter?.source, weight: selection.weight?.source)
    }

    /// - Parameters:
    ///   - filter: which of the source's features are clustered; nil for all.
    ///   - weight: a weight that features must have; nil if they need none.
    func clusteringIdentity(filter: JSONValue?, weight: JSONValue? = nil) -> JSONValue {
        var object = members
        let names = ViewOption.names + ["projection", "indexedProperties"]
        for option in SourceOption.all where !names.contains(option.name) { object[option.name] = nil }
        object["filter"] = filter
        object["weight of its own"] = weight
        return .object(object)
    }

    /// Whether a view's points are in the order of the source's points.
    func hasOrder(of source: SourceOptions, _ selection: ViewSelection) -> Bool {
        selection.isOfAll && sortKey != nil && sortKey?.source == source.sortKey?.source
    }
}

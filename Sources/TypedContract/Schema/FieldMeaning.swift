// SPDX-License-Identifier: MIT
import Protobuf

/// What a field of the contract is in the JSON contract.
enum Shape: Sendable {
    /// A number, a boolean, a string or a word, by its kind. Repeated: an array of these.
    case scalar
    /// A string that holds JSON text: that value, in place.
    case json(isObject: Bool)
    /// An object. Repeated: an array of objects.
    case message
    /// A message whose members are those of the message that has it.
    case flattened
    /// `[west, south, east, north]`.
    case box
    /// The same under `{"planar": …}`.
    case planar
    /// A message whose only field is repeated: that array.
    case list
    /// `{property: [lower, upper]}`.
    case window
    /// A number or a string.
    case featureID
    /// GeoJSON features to store.
    case newFeatures
    /// A list of names and expressions: an object.
    case named
    /// A list of names and options: an object of objects.
    case views
    /// An object whose keys are not declared.
    case map
    /// Any object.
    case structure
    /// How the answer has properties: no param.
    case format
    /// `[longitude, latitude, …]`.
    case position
    /// A geometry.
    case hull
    /// A GeoJSON feature, with a key if it is a marker's.
    case feature
    /// A feature of a tile.
    case tileFeature
    /// A marker's key, or an object with it.
    case removedMarker
}

/// The rules by which a field's name and type give what it is in the JSON contract, and all exceptions to them.
struct FieldMeaning {
    let member: String
    let shape: Shape

    init(_ field: DescriptorSet.Field, of message: String, isMap: Bool) {
        let isText = field.kind == .string && field.name.hasSuffix(Self.jsonSuffix)
        let name = isText ? String(field.jsonName.dropLast(4)) : field.jsonName
        let path = "\(message).\(field.name)"
        member = Self.members[path] ?? Self.members[field.name] ?? name
        if let shape = Self.fields[path] {
            self.shape = shape
        } else if isText {
            shape = .json(isObject: Self.objects.contains(field.name))
        } else if isMap {
            shape = .map
        } else if let shape = Self.types[field.typeName] {
            self.shape = shape
        } else {
            shape = field.kind == .message ? .message : .scalar
        }
    }

    private static let jsonSuffix = "_json"

    /// Fields that hold the text of an object.
    private static let objects: Set<String> = [
        "properties_json", "members_json", "feature_json", "geometry_json", "stats_json",
    ]

    /// Members that are not named like their field: by the field's name, or by its message's too.
    private static let members: [String: String] = [
        "expected_type": "type", "from_key": "from", "into_key": "into",
        "clusterd.v1.SourceOptions.planar": "projection",
        "clusterd.v1.Cluster.id": "cluster_id",
    ]

    private static let fields: [String: Shape] = [
        "clusterd.v1.SourceOptions.planar": .planar,
        "clusterd.v1.WatchClustersOpen.view": .flattened,
        "clusterd.v1.LoadFileRequest.table": .flattened,
        "clusterd.v1.CreateSourceResponse.description": .flattened,
        "clusterd.v1.ImportFeaturesResponse.description": .flattened,
        "clusterd.v1.LoadFileResponse.description": .flattened,
        "clusterd.v1.UpdateFeaturesResponse.description": .flattened,
        "clusterd.v1.UpdateOptionsResponse.description": .flattened,
        "clusterd.v1.GetSourceResponse.description": .flattened,
    ]

    private static let types: [String: Shape] = [
        "clusterd.v1.BoundingBox": .box,
        "clusterd.v1.PropertySelection": .list,
        "clusterd.v1.PinnedFeatures": .list,
        "clusterd.v1.BinEdges": .list,
        "clusterd.v1.Window": .window,
        "clusterd.v1.FeatureId": .featureID,
        "clusterd.v1.NewFeature": .newFeatures,
        "clusterd.v1.NamedExpression": .named,
        "clusterd.v1.View": .views,
        "clusterd.v1.PropertiesFormat": .format,
        "clusterd.v1.Position": .position,
        "clusterd.v1.Hull": .hull,
        "clusterd.v1.Feature": .feature,
        "clusterd.v1.TileFeature": .tileFeature,
        "clusterd.v1.RemovedMarker": .removedMarker,
        "google.protobuf.Struct": .structure,
    ]
}

extension FieldMeaning {
    /// The values of an enumeration with their words: `EXPANSION_ZOOM` of `Include` is `expansionZoom`.
    static func words(_ enumeration: DescriptorSet.Enumeration) -> [Word] {
        let prefix = (enumeration.values.first?.name ?? "").replacing("UNSPECIFIED", with: "")
        return enumeration.values.map { value in
            Word(
                number: value.number, name: value.name,
                word: value.number == 0 ? nil : exceptions[value.name] ?? word(value.name.dropFirst(prefix.count)))
        }
    }

    /// `EXPANSION_ZOOM` as `expansionZoom`.
    private static func word(_ name: Substring) -> String {
        let parts = name.lowercased().split(separator: "_")
        return (parts.prefix(1) + parts.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }).joined()
    }

    /// Words that are not named like their value.
    private static let exceptions: [String: String] = [
        "TILE_ENCODING_FEATURES": "json",
        "METHOD_KIND_CLIENT_STREAM": "client stream", "METHOD_KIND_SERVER_STREAM": "server stream",
        "SERVING_STATUS_SERVING": "SERVING", "SERVING_STATUS_NOT_SERVING": "NOT_SERVING",
    ]
}

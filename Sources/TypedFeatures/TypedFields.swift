// SPDX-License-Identifier: MIT

/// Numbers of fields of `proto/clusterd/v1/clusterd.proto`, for messages that are written without looking at its
/// descriptors. A test compares them with the file.
package enum TypedFields {
    /// What all answers with features have.
    package enum Answer {
        package static let features = 1
        package static let revision = 30
        package static let position = 31
    }

    package enum GetClustersResponse {
        package static let truncated = 2
        package static let warnings = 3
    }

    package enum GetLeavesResponse {
        package static let total = 2
    }

    package enum GetTileResponse {
        package static let tile = 2
    }

    package enum LocateFeatureResponse {
        package static let feature = 1
        package static let standsAloneFrom = 2
    }

    package enum GetFeaturesResponse {
        package static let page = 1
        package static let done = 2
    }

    package enum WatchClustersResponse {
        package static let add = 1
        package static let update = 2
        package static let remove = 3
        package static let keep = 4
        package static let truncated = 5
    }

    package enum RemovedMarker {
        package static let key = 1
        package static let intoKey = 2
    }

    package enum Feature {
        package static let longitude = 1
        package static let latitude = 2
        package static let cluster = 3
        package static let point = 4
        package static let key = 5
        package static let fromKey = 6
    }

    package enum TileFeature {
        package static let x = 1
        package static let y = 2
        package static let cluster = 3
        package static let point = 4
        package static let square = 5
        package static let key = 6
    }

    package enum Square {
        package static let size = 1
        package static let pointCount = 2
    }

    package enum Cluster {
        package static let id = 1
        package static let pointCount = 2
        package static let propertiesJson = 3
        package static let properties = 4
        package static let pointWeight = 5
        package static let partitionText = 6
        package static let partitionNumber = 7
        package static let totalCount = 8
        package static let hull = 9
        package static let bbox = 10
        package static let expansionZoom = 11
        package static let coincident = 12
        package static let anchor = 13
        package static let spider = 14
        package static let top = 15
    }

    package enum Point {
        package static let id = 1
        package static let propertiesJson = 2
        package static let properties = 3
        package static let further = 4
        package static let membersJson = 5
        package static let pinned = 6
    }

    package enum FeatureId {
        package static let integer = 1
        package static let number = 2
        package static let text = 3
        package static let unsignedInteger = 4
    }

    package enum BoundingBox {
        package static let west = 1
        package static let south = 2
        package static let east = 3
        package static let north = 4
    }

    package enum Position {
        package static let longitude = 1
        package static let latitude = 2
        package static let further = 3
    }

    package enum Hull {
        package static let coordinates = 1
    }

    /// google.protobuf.Struct, and what it consists of.
    package enum Struct {
        package static let fields = 1
        package static let key = 1
        package static let value = 2
        package static let nullValue = 1
        package static let numberValue = 2
        package static let stringValue = 3
        package static let boolValue = 4
        package static let structValue = 5
        package static let listValue = 6
        package static let values = 1
    }
}

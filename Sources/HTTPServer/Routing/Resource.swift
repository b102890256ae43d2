// SPDX-License-Identifier: MIT
import JSON
import TypedContract

/// A resource that a path names.
enum Resource: Sendable, Equatable {
    case map
    /// A file of the map page.
    case asset(String)
    /// A tile of the map page's ground; nil for their TileJSON.
    case ground(GroundPlace?)
    /// An archive of tiles: the directories of its path, and its name.
    case archive([String])
    case health
    case metrics
    /// A call whose params come from the query or the path.
    ///
    /// - Parameter text: the JSON text of params that a parsed number would change: long integers. Empty if there
    ///   are none.
    indirect case query(ResourceQuery, JSONObject, text: [UInt8] = [])
    case tileJSON(source: String)
    case watch(source: String)
    /// All features of a source: they can be read, and imported.
    case features(source: String)
    /// A call whose params are in the body: the method's full name.
    case method(String)
    /// `*`: the server as a whole.
    case server

    /// The supported methods, including `HEAD` and `OPTIONS`.
    var methods: [HTTPMethod] {
        switch self {
        case .map, .asset, .ground, .archive, .health, .metrics, .query, .tileJSON, .watch:
            [.get, .head, .options]
        case .features: [.get, .head, .put, .options]
        case .method(let name):
            TypedMethod.named(name)?.hasNoSideEffects == true ? [.get, .head, .post, .options] : [.post, .options]
        case .server: [.options]
        }
    }
}

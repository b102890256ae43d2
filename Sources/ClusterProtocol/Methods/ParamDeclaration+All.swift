// SPDX-License-Identifier: MIT

/// The params of the methods, each declared once. Params of the same name that differ between methods have a name here
/// that says whose they are.
extension ParamDeclaration {
    // MARK: Queries

    public static let source = ParamDeclaration("source", .sourceName, isRequired: true, "the source's name")
    public static let bbox = ParamDeclaration(
        "bbox", .box, unit: "degrees", isRequired: true,
        "the box; it may be wider than the world, wrap around it, or cross the antimeridian (west greater than east)"
    )
    public static let zoom = ParamDeclaration(
        "zoom", .number(nil), isRequired: true,
        "the map's zoom; rounded down and limited to the zooms that the source has")
    public static let limit = ParamDeclaration(
        "limit", .count, defaultInWords: "all",
        "the most features of the answer, which then says whether there are more")
    public static let properties = ParamDeclaration(
        "properties", .strings, defaultInWords: "all",
        "the names of the properties to keep, of points and of aggregates")
    public static let precision = ParamDeclaration(
        "precision", .integer(0...15), unit: "decimals", defaultInWords: "not rounded", "how coordinates are rounded")
    public static let filter = ParamDeclaration(
        "filter", .expression, defaultInWords: "all features", "use only the features that pass")
    private static let details = ["hull", "bbox", "expansionZoom", "coincident", "anchor", "spider", "key"]
    public static let include = ParamDeclaration(
        "include", .words(details + ["top"]), defaultInWords: "none", "further members of each cluster")
    /// Of archives, which have no property by which points are compared.
    public static let archiveInclude = ParamDeclaration(
        "include", .words(details), defaultInWords: "none", "further members of each cluster")
    public static let revision = ParamDeclaration(
        "revision", .revision, defaultInWords: "the current one", "fail if the data are of another revision")
    public static let atLeast = ParamDeclaration(
        "atLeast", .logPosition, defaultInWords: "no wait",
        "wait until the data have this position of a log that the source follows, such as pg_current_wal_lsn() gives")

    /// Params of the data that a query reads.
    public static let data: [ParamDeclaration] = [filter, revision, atLeast]
    public static let window = ParamDeclaration(
        "window", .window, defaultInWords: "all points",
        "count only points whose value of an indexed property lies in a half-open range; null: unbounded")
    public static let pin = ParamDeclaration(
        "pin", .featureIDs, defaultInWords: "none",
        "up to 100 ids of features to show as points of their own, which do not count in their clusters")
    public static let topBy = ParamDeclaration(
        "topBy", .string, defaultInWords: "none",
        "an indexed property: include \"top\" is the point with the greatest value, after - the least")
    /// Params of what a view shows.
    static let restrictions: [ParamDeclaration] = [window, pin, topBy]
    /// Params of `GetClusters` and `WatchClusters`.
    static let viewport: [ParamDeclaration] =
        [source, bbox, zoom, limit, properties, precision, include] + restrictions + data
    public static let maxRateHz = ParamDeclaration(
        "maxRateHz", .number(0.01...1e9), unit: "changes per second", default: .number(10),
        "the maximum rate; more than 1000 count as 1000")
    public static let transitions = ParamDeclaration(
        "transitions", .boolean, default: .bool(false),
        "know markers by the features that they grew from, and say where they come from and go")

    // MARK: Tiles

    public static let tileZoom = ParamDeclaration("z", .integer(0...30), isRequired: true, "the tile's zoom")
    public static let tileColumn = ParamDeclaration(
        "x", .integer(0...(1 << 30) - 1), isRequired: true, "its column, below 2^z")
    public static let tileRow = ParamDeclaration(
        "y", .integer(0...(1 << 30) - 1), isRequired: true, "its row, below 2^z")
    public static let encoding = ParamDeclaration(
        "encoding", .word(["json", "mvt"]), default: .string("json"), "JSON, or a Mapbox Vector Tile in base64")
    public static let grid = ParamDeclaration(
        "grid", .integer(1...8), defaultInWords: "clusters",
        "in place of clusters, the tile's squares of zoom z + grid that have points; z + grid is at most 26")
    public static let resolution = ParamDeclaration(
        "resolution", .integer(0...26), isRequired: true, "the zoom whose tiles are the cells")
    /// Over HTTP only.
    public static let token = ParamDeclaration("token", .string, isRequired: true, "the token, a JWT")
    public static let tilesURL = ParamDeclaration("tiles", .string, isRequired: true, "the template of the tiles' URLs")

    // MARK: Clusters and features

    public static let clusterID = ParamDeclaration("clusterId", .anyInteger, isRequired: true, "the cluster's id")
    public static let zoomOfCluster = ParamDeclaration(
        "zoom", .number(nil), defaultInWords: "none",
        "the zoom at which the cluster was found: needed if the filter depends on it")
    static let cluster: [ParamDeclaration] = [source, clusterID, zoomOfCluster] + data
    public static let leafLimit = ParamDeclaration(
        "limit", .count, default: .number(10), "the most points of the answer; 0: all")
    public static let offset = ParamDeclaration(
        "offset", .count, default: .number(0), "leave out the first points")
    public static let featureID = ParamDeclaration(
        "featureId", .featureID, isRequired: true, "the feature's id")

    // MARK: Values of points

    public static let by = ParamDeclaration(
        "by", .string, isRequired: true, "an indexed property; after - in ascending order")
    public static let topLimit = ParamDeclaration(
        "limit", .integer(1...1000), default: .number(20), "the most features of the answer")
    public static let property = ParamDeclaration("property", .string, isRequired: true, "an indexed property")
    public static let bins = ParamDeclaration(
        "bins", .integer(1...1000), defaultInWords: "none",
        "the number of bins of equal width, from the least to the greatest value in the box")
    public static let edges = ParamDeclaration(
        "edges", .numbers, defaultInWords: "none", "the edges of bins: 2 to 1001 ascending numbers")

    // MARK: Sources

    public static let newSource = ParamDeclaration(
        "source", .sourceName, isRequired: true, "its name: [A-Za-z0-9][A-Za-z0-9._-]{0,63}")
    public static let options = ParamDeclaration(
        "options", .object, defaultInWords: "all options' defaults", "the source's options")
    public static let allOptions = ParamDeclaration("options", .object, isRequired: true, "the complete options")
    public static let upsert = ParamDeclaration(
        "upsert", .features, defaultInWords: "none", "features to add or replace, each with an id")
    public static let remove = ParamDeclaration(
        "remove", .featureIDs, defaultInWords: "none", "ids of features to remove")

    public static let log = ParamDeclaration(
        "log", .string, isRequired: true, "the name of the log that the source follows, 1 to 64 characters")
    public static let position = ParamDeclaration(
        "position", .string, isRequired: true,
        "the log's position after the item, opaque to the daemon, 1 to 1,024 bytes of UTF-8")

    // MARK: Imports

    public static let features = ParamDeclaration("features", .features, isRequired: true, "features to import")
    public static let path = ParamDeclaration(
        "path", .string, isRequired: true, "the file, below one of the directories of --import-dir")
    public static let mode = ParamDeclaration(
        "mode", .word(["replace", "append"]), default: .string("replace"), "what an import does with the source's data")
    public static let onInvalid = ParamDeclaration(
        "onInvalid", .word(["reject", "skip"]), default: .string("reject"),
        "what to do about invalid features: reject what has them, or leave them out and count them")
    public static let wrap = ParamDeclaration(
        "wrap", .boolean, default: .bool(false), "wrap longitudes beyond 180 degrees around")
    public static let allowEmpty = ParamDeclaration(
        "allowEmpty", .boolean, default: .bool(false), "replace the source's data even if no feature is valid")
    /// Params that say how to import features.
    public static let imports: [ParamDeclaration] = [mode, onInvalid, wrap, allowEmpty]
    public static let longitude = ParamDeclaration(
        "longitude", .string, defaultInWords: "longitude, lon, lng, long, x", "a table's column of longitudes")
    public static let latitude = ParamDeclaration(
        "latitude", .string, defaultInWords: "latitude, lat, y", "a table's column of latitudes")
    public static let idColumn = ParamDeclaration(
        "id", .string, defaultInWords: "id, if there is one", "a table's column of ids")
    public static let delimiter = ParamDeclaration(
        "delimiter", .string, defaultInWords: "detected",
        "what separates a table's cells: one character, or tab as a word")
    public static let text = ParamDeclaration(
        "text", .strings, defaultInWords: "none", "a table's columns whose cells stay text")
    /// Params that describe a text that may be a table.
    public static let table: [ParamDeclaration] = [longitude, latitude, idColumn, delimiter, text]

    // MARK: Archives

    public static let archivePath = ParamDeclaration(
        "path", .string, isRequired: true, "the file, below one of the directories of --export-dir")
    public static let minZoom = ParamDeclaration(
        "minZoom", .integer(0...30), defaultInWords: "the source's", "the first zoom")
    public static let maxZoom = ParamDeclaration(
        "maxZoom", .integer(0...30), defaultInWords: "the first zoom without clusters", "the last zoom")
    public static let compression = ParamDeclaration(
        "compression", .word(["gzip", "none"]), default: .string("gzip"), "how tiles are compressed")
    public static let archiveName = ParamDeclaration(
        "name", .string, defaultInWords: "the source's", "the archive's name")
    public static let archiveDescription = ParamDeclaration(
        "description", .string, defaultInWords: "none", "what the archive shows")
    public static let attribution = ParamDeclaration(
        "attribution", .string, defaultInWords: "none", "whom maps must name, as HTML")
    public static let overwrite = ParamDeclaration(
        "overwrite", .boolean, default: .bool(false), "replace an archive of that name, as a whole")
    public static let estimate = ParamDeclaration(
        "estimate", .boolean, default: .bool(false), "answer about how large each zoom's tiles are, and write nothing")

    // MARK: Expressions and statistics

    public static let expression = ParamDeclaration("expression", .value, isRequired: true, "the expression")
    public static let feature = ParamDeclaration(
        "feature", .object, defaultInWords: "none", "the feature that the expression reads; null: none")
    public static let expressionZoom = ParamDeclaration(
        "zoom", .number(nil), defaultInWords: "none", "the map's zoom; null: none")
    public static let accumulated = ParamDeclaration(
        "accumulated", .value, default: .null, "the value of [\"accumulated\"]")
    public static let expectedType = ParamDeclaration(
        "type", .string, defaultInWords: "any",
        "the expected type of the value, such as number or string; null: any")
    public static let format = ParamDeclaration(
        "format", .word(["json", "prometheus"]), default: .string("json"), "JSON, or Prometheus's text format")
}

// SPDX-License-Identifier: MIT
import RPC
import ClusterProtocol
import Responses
import EventLoop
import SourceEngine
import GeoJSON
import HTTPServer
import JSON
import PostgresFeed

extension Configuration {
    /// All members of the configuration, in the order of the manual.
    static let members: [ConfigurationMember<Configuration>] = [
        ConfigurationMember(
            "$schema", .text, "The location of clusterd.schema.json, for editors; the daemon ignores it."
        ) {
            _, _ in
        },
        ConfigurationMember(
            "socket", .text, fixed: .at(\.socket),
            "The socket's path. A socket that the service manager passes takes precedence."
        ) { value, target in target.socket = value.text },
        ConfigurationMember(
            "socketMode", .oneOf(SocketMode.names), default: .string(SocketMode.names[0]), fixed: .at(\.socketMode),
            "Who may connect to a socket that the daemon makes, for HTTP too: \"0600\" only the daemon's own user and root, \"0660\" its group too, \"0666\" everybody. access decides what a caller may do. A socket that the service manager passes keeps its own mode."
        ) { value, target in target.socketMode = SocketMode.mode(value.text) ?? target.socketMode },
        ConfigurationMember(
            "state", .text, fixed: .at(\.stateDirectory),
            "The directory in which sources are kept across restarts. Without it nothing is kept."
        ) { value, target in target.stateDirectory = value.text },
        ConfigurationMember(
            "importDirectories", .list(.text), default: .array([]),
            "LoadFile may read regular files below these directories."
        ) { value, target in target.importDirectories = value.items.map(\.text) },
        ConfigurationMember(
            "exportDirectories", .list(.text), default: .array([]),
            "PublishTiles may write archives below these directories."
        ) { value, target in target.exportDirectories = value.items.map(\.text) },
        ConfigurationMember(
            "http", HTTPSettings.members, at: \.http, "The HTTP interface and the map page."),
        ConfigurationMember(
            "limits", Limits.members, at: \.limits, "Numbers that bound the daemon."),
        ConfigurationMember(
            "access", AccessPolicy.members, at: \.access,
            "Who may do what, by the user and the groups of the calling process. The daemon's own user and root may do all."
        ),
        ConfigurationMember("log", LogSettings.members, at: \.log, "What the daemon logs, and how."),
        ConfigurationMember(
            "sources", .table(DeclaredSource.members.map(\.entry)),
            "Sources that the daemon creates and fills itself, by name. Only administrators may change them otherwise."
        ) { (value, target) throws(Problem) in target.sources = try DeclaredSource.read(value) },
    ]
}

extension Limits {
    static let members: [ConfigurationMember<Limits>] = table.map { limit in
        ConfigurationMember(
            limit.name, .integer(minimum: Int64(limit.minimum)),
            default: limit.isByMachine ? nil : .number(Double(Limits()[keyPath: limit.keyPath])),
            fixed: limit.isLive ? nil : .at(limit.keyPath), limit.help
        ) { value, target in target[keyPath: limit.keyPath] = value.integer }
    }
}

extension LogSettings {
    static let members: [ConfigurationMember<LogSettings>] = [
        ConfigurationMember(
            "level", .oneOf(Log.Level.allCases.map(\.name)), default: .string(standard.level.name),
            "Log messages of this level and of more severe ones."
        ) { value, target in target.level = Log.Level(name: value.text) ?? target.level },
        ConfigurationMember(
            "format", .oneOf(Log.Format.allCases.map(\.rawValue)), default: .string(standard.format.rawValue),
            "\"journal\": lines with journald's priorities; \"text\": lines for people; \"json\": one object per line; \"auto\": \"journal\" if journald reads standard error, else \"text\"."
        ) { value, target in target.format = Log.Format(rawValue: value.text) ?? target.format },
        ConfigurationMember(
            "slowCallMs", .integer(minimum: 0), default: .number(Double(standard.slowCallMs)),
            "Log calls that take longer than this, in milliseconds, with source, method, status, size of params and time. 0: none."
        ) { value, target in target.slowCallMs = value.integer },
        ConfigurationMember(
            "audit", .boolean, default: .bool(standard.audits),
            "Whether to log each call that is denied or changes a source, with user and process (over TCP: address), method, source, status and number of features."
        ) { value, target in target.audits = value.boolean },
    ]

    private static let standard = LogSettings()
}

extension DeclaredSource {
    static let members: [ConfigurationMember<DeclaredSource>] =
        [
            ConfigurationMember("options", .sourceOptions, "The source's options, as CreateSource takes them.") {
                (value, target) throws(Configuration.Problem) in
                let options = value.element.value
                do throws(SourceError) { _ = try SourceOptions(reading: options) } catch {
                    throw value.reader.problem(at: value.element, Self.located(value.path, error))
                }
                target.options = options
            },
            ConfigurationMember(
                "file", .text,
                "The file of the source's features: a FeatureCollection, lines of features, a JSON text sequence or a table, plain or gzipped."
            ) { value, target in target.file = value.text },
            ConfigurationMember(
                "image", .text,
                "The image that the source reads, such as clusterctl build makes it, instead of a file. Options are the image's, and the source is read only."
            ) { value, target in target.image = value.text },
            ConfigurationMember(
                "postgres", .members(TableFeedConfiguration.members.map(\.entry)),
                "The PostgreSQL table that the source copies and follows, instead of a file. Its data are read only then."
            ) { (value, target) throws(Configuration.Problem) in
                target.postgres = try TableFeedConfiguration.read(value)
            },
            ConfigurationMember(
                "watch", .boolean, default: .bool(true),
                "Whether the file is loaded again, as a whole, whenever it changes."
            ) { value, target in target.watches = value.boolean },
            ConfigurationMember(
                "onInvalid", .oneOf(["reject", "skip"]), default: ParamDeclaration.onInvalid.standard,
                "Whether an invalid feature rejects the file or is left out."
            ) { value, target in target.skipsInvalid = value.text == "skip" },
            ConfigurationMember(
                "wrap", .boolean, default: .bool(false), "Whether longitudes beyond -180 to 180 are wrapped around."
            ) { value, target in target.wrapsLongitudes = value.boolean },
        ] + columnMembers

    /// Members that describe files that are tables.
    private static let columnMembers: [ConfigurationMember<DeclaredSource>] = [
        ConfigurationMember(
            "longitude", .text,
            "The column of a table's longitudes; else the first of longitude, lon, lng, long, x."
        ) { value, target in target.columns.longitude = value.text },
        ConfigurationMember(
            "latitude", .text, "The column of a table's latitudes; else the first of latitude, lat, y."
        ) { value, target in target.columns.latitude = value.text },
        ConfigurationMember("id", .text, "The column of a table's ids; else id, if there is one.") {
            value, target in target.columns.id = value.text
        },
        ConfigurationMember(
            "delimiter", .oneOf(TableColumns.delimiters.map(\.name)),
            "What separates a table's cells; else what its header shows."
        ) { value, target in target.columns.delimiter = TableColumns.delimiter(named: value.text) },
        ConfigurationMember(
            "text", .list(.text), default: .array([]), "Columns of a table whose cells stay text."
        ) { value, target in target.columns.text = Set(value.items.map(\.text)) },
    ]

    /// Reads the sources from an object whose members are sources.
    fileprivate static func read(_ value: ConfigurationValue) throws(Configuration.Problem) -> [DeclaredSource] {
        var sources: [DeclaredSource] = []
        try Configuration.Problem.gathered(value.element.members) { (key, element) throws(Configuration.Problem) in
            let text = key.string ?? ""
            guard let name = SourceName(text) else {
                throw value.reader.problem(
                    at: key, "\(value.path) has \"\(text)\", which is not a source's name: \(SourceName.pattern)")
            }
            guard !sources.contains(where: { $0.name == name }) else {
                throw value.reader.problem(at: key, "\(value.path).\(text) is given twice")
            }
            var source = DeclaredSource(name: name)
            try value.reader.read(element, by: members, path: "\(value.path).\(text)", into: &source)
            if let fault = source.imageFault ?? source.postgresFault {
                throw value.reader.problem(at: element, "\(value.path).\(text) \(fault)")
            }
            sources.append(source)
        }
        return sources
    }

    /// What cannot be combined with an image; nil if there is no conflict.
    private var imageFault: String? {
        guard image != nil else { return nil }
        if file != nil { return "has both file and image; a source has one of them" }
        if postgres != nil { return "has both image and postgres; a source has one of them" }
        return options == nil ? nil : "has both image and options; an image has its own options"
    }

    /// What cannot be combined with a table; nil if there is no conflict.
    private var postgresFault: String? {
        guard postgres != nil else { return nil }
        if file != nil { return "has both file and postgres; a source is filled by one of them" }
        let options = (try? SourceOptions(reading: options)) ?? SourceOptions()
        if options.promoteId != nil {
            return "has options.promoteId; the ids of a table's features are named by postgres.id"
        }
        if options.ttlSeconds != nil {
            return "has options.ttlSeconds; a table's features last as long as its rows"
        }
        if options.featureRules.bounds != nil {
            return "has a planar options.projection; a table's positions are longitudes and latitudes"
        }
        return nil
    }

    /// Describes a fault in the options, with its path within the configuration.
    private static func located(_ path: String, _ error: SourceError) -> String {
        let text = error.description
        let prefix = "params.options"
        return text.hasPrefix(prefix) ? path + text.dropFirst(prefix.count) : "\(path): \(text)"
    }
}

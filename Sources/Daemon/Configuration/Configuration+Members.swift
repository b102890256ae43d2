// SPDX-License-Identifier: MIT
import Calls
import Answers
import Sources
import SystemSupport
import HTTPDoor
import JSON

extension Configuration {
    /// All members of the configuration, in the order of the manual.
    static let members: [ConfigurationMember<Configuration>] = [
        ConfigurationMember("$schema", .text, "For editors, where clusterd.schema.json lies; not looked at.")
        {
            _, _ in
        },
        ConfigurationMember(
            "socket", .text, isLive: false,
            "The socket's path. A socket that the service manager hands over goes before it."
        ) { value, target in target.socket = value.text },
        ConfigurationMember(
            "socketMode", .oneOf(SocketMode.names), isLive: false,
            "Who may connect to a socket that the daemon makes: \"0600\" only the daemon's own user and root, \"0660\" its group too, \"0666\" everybody. What a caller may do then is up to access. A socket that the service manager hands over keeps its own mode."
        ) { value, target in target.socketMode = SocketMode.mode(value.text) ?? target.socketMode },
        ConfigurationMember(
            "state", .text, isLive: false,
            "The directory in which sources are kept over restarts. Without it nothing is kept."
        ) { value, target in target.stateDirectory = value.text },
        ConfigurationMember(
            "importDirectories", .list(.text),
            "The directories below which LoadFile may read regular files."
        ) { value, target in target.importDirectories = value.items.map(\.text) },
        ConfigurationMember(
            "exportDirectories", .list(.text),
            "The directories below which PublishTiles may write archives."
        ) { value, target in target.exportDirectories = value.items.map(\.text) },
        ConfigurationMember(
            "http", .members(HTTPSettings.members.map(\.entry)), "The HTTP interface and the map page."
        ) { (value, target) throws(Problem) in try value.read(by: HTTPSettings.members, into: &target.http) },
        ConfigurationMember(
            "limits", .members(Limits.members.map(\.entry)), "Numbers that bound the daemon."
        ) { (value, target) throws(Problem) in try value.read(by: Limits.members, into: &target.limits) },
        ConfigurationMember(
            "access", .members(AccessPolicy.members.map(\.entry)),
            "Who may do what, by the user and the groups of the calling process. The daemon's own user and root may do all."
        ) { (value, target) throws(Problem) in try value.read(by: AccessPolicy.members, into: &target.access)
        },
        ConfigurationMember(
            "log", .members(LogSettings.members.map(\.entry)), "What is said on standard error, and how."
        ) { (value, target) throws(Problem) in try value.read(by: LogSettings.members, into: &target.log) },
        ConfigurationMember(
            "sources", .table(DeclaredSource.members.map(\.entry)),
            "Sources that the daemon makes and fills by itself, by name. Only administrators change them otherwise."
        ) { (value, target) throws(Problem) in target.sources = try DeclaredSource.read(value) },
    ]
}

extension Limits {
    static let members: [ConfigurationMember<Limits>] = table.map { limit in
        ConfigurationMember(
            limit.name, .integer(minimum: Int64(limit.minimum)), isLive: limit.isLive, limit.help
        ) { value, target in target[keyPath: limit.place] = value.integer }
    }
}

extension LogSettings {
    static let members: [ConfigurationMember<LogSettings>] = [
        ConfigurationMember("level", .oneOf(Log.Level.allCases.map(\.name)), "Say this and what is graver.") {
            value, target in target.level = Log.Level(name: value.text) ?? target.level
        },
        ConfigurationMember(
            "format", .oneOf(Log.Format.allCases.map(\.rawValue)),
            "\"journal\": lines with journald's priorities; \"text\": lines for people; \"json\": an object a line; \"auto\": the first where journald reads, else the second."
        ) { value, target in target.format = Log.Format(rawValue: value.text) ?? target.format },
        ConfigurationMember(
            "slowCallMs", .integer(minimum: 0),
            "Calls that take longer get a line with source, method, size of params and time, in milliseconds. 0: none do."
        ) { value, target in target.slowCallMs = value.integer },
        ConfigurationMember(
            "audit", .boolean,
            "Whether each call that is denied or changes a source gets a line with user, process, method, source, status and number of features. True by default."
        ) { value, target in target.audits = value.boolean },
    ]
}

extension DeclaredSource {
    static let members: [ConfigurationMember<DeclaredSource>] = [
        ConfigurationMember("options", .sourceOptions, "The source's options, as CreateSource takes them.") {
            (value, target) throws(Configuration.Problem) in
            let options = value.element.value
            do throws(SourceError) { _ = try SourceOptions(reading: options) } catch {
                throw value.reader.problem(at: value.element, Self.place(value.path, error))
            }
            target.options = options
        },
        ConfigurationMember(
            "file", .text,
            "What the source is filled with: a FeatureCollection, lines of features or a JSON text sequence, plain or gzipped."
        ) { value, target in target.file = value.text },
        ConfigurationMember(
            "watch", .boolean,
            "Whether the file is loaded again, as a whole, whenever it changes. True by default."
        ) { value, target in target.watches = value.boolean },
        ConfigurationMember(
            "onInvalid", .oneOf(["reject", "skip"]),
            "Whether a bad feature refuses the file, which is the default, or is left out."
        ) { value, target in target.skipsInvalid = value.text == "skip" },
    ]

    /// The sources of an object of them.
    fileprivate static func read(_ value: ConfigurationValue) throws(Configuration.Problem)
        -> [DeclaredSource]
    {
        var sources: [DeclaredSource] = []
        for (key, element) in value.element.members {
            let text = key.string ?? ""
            guard let name = SourceName(text) else {
                throw value.reader.problem(
                    at: key, "\(value.path) has \"\(text)\", which is no source's name: \(SourceName.pattern)"
                )
            }
            guard !sources.contains(where: { $0.name == name }) else {
                throw value.reader.problem(at: key, "\(value.path).\(text) is given twice")
            }
            var source = DeclaredSource(name: name)
            try value.reader.read(element, by: members, path: "\(value.path).\(text)", into: &source)
            sources.append(source)
        }
        return sources
    }

    /// A fault of the options, its path that within the configuration.
    private static func place(_ path: String, _ error: SourceError) -> String {
        let text = error.description
        let prefix = "params.options"
        return text.hasPrefix(prefix) ? path + text.dropFirst(prefix.count) : "\(path): \(text)"
    }
}

// SPDX-License-Identifier: MIT
import CommandLineOptions
import Glibc
import JSON
import PostgresFeed
import SourceEngine

/// `clusterctl postgres`: checks whether a PostgreSQL table can be followed, and declares a source that follows it.
enum PostgresCommand: Subcommand {
    private enum Action: String, CaseIterable { case check, declare }

    static let table = Command(
        "postgres", summary: "Check a PostgreSQL table, or declare a source that follows it",
        details: [
            "check connects to the server and reports what prevents that the daemon follows the table, with the SQL that "
                + "changes it. It changes nothing. The exit status is 0 if nothing is missing and 1 if something is.",
            "declare checks the table too, and prints the entry for the daemon's configuration file, or adds it to the file "
                + "that --config names. With --unchecked it does so without a connection.",
            "CONNECTION is any connection string of libpq. Passwords belong in ~/.pgpass or in a service file: the entry has "
                + "the string as it is.",
        ],
        operands: [
            Operand("ACTION", kind: .oneOf(Action.allCases.map(\.rawValue)), help: "what to do"),
            Operand("CONNECTION", help: "how libpq connects, such as service=fleet or a URI"),
            Operand("TABLE", help: "the table, such as public.vehicles"),
        ],
        options: [
            Option(
                "id", value: "COLUMN", defaultInWords: "the primary key",
                help: "the column of the features' ids"),
            Option(
                "geometry", value: "COLUMN", defaultInWords: "the only geometry column",
                help: "the column of points"),
            Option("longitude", value: "COLUMN", help: "the column of longitudes, instead of a geometry"),
            Option("latitude", value: "COLUMN", help: "the column of latitudes, instead of a geometry"),
            Option(
                "properties", value: "COLUMNS", defaultInWords: "all other columns",
                help: "the columns that become properties, with commas between"),
            Option(
                "slot", value: "NAME", defaultInWords: "a name with the machine's id",
                help: "the replication slot"),
            Option(
                "publication", value: "NAME", defaultInWords: "a name made from the table's",
                help: "the publication"),
            .flag(
                "temporary", help: "declare a slot that goes with the connection, for a daemon without state"),
            Option(
                "source", value: "NAME", defaultInWords: "the table's name", help: "the name of the source"),
            Option(
                "config", value: "FILE", kind: .file,
                help: "the configuration file to which declare adds the entry"),
            .flag("unchecked", help: "declare the table without looking at it"),
        ],
        examples: [
            Example("clusterctl postgres check service=fleet public.vehicles", "reports what is missing, with the SQL"),
            Example(
                "clusterctl postgres declare service=fleet public.vehicles --config /etc/clusterd/clusterd.json",
                "adds the source vehicles to the daemon's configuration"),
        ])

    static func run(_ invocation: Invocation) async throws {
        let configuration = try configuration(invocation)
        switch Action(rawValue: try invocation.operand(0)) {
        case .check: try check(invocation, configuration)
        case .declare: try declare(invocation, configuration)
        case nil: throw invocation.arguments.usageError("unknown action")
        }
    }

    private static func configuration(_ invocation: Invocation) throws -> TableFeedConfiguration {
        let arguments = invocation.arguments
        var configuration = TableFeedConfiguration(
            connection: try invocation.operand(1), table: try invocation.operand(2))
        configuration.id = arguments.string("id")
        configuration.properties = arguments.string("properties").map { $0.split(separator: ",").map(String.init) }
        configuration.slot = arguments.string("slot")
        configuration.publication = arguments.string("publication")
        configuration.isTemporary = arguments.has("temporary")
        if let name = arguments.string("source") { configuration.slotLabel = name }
        switch (arguments.string("longitude"), arguments.string("latitude"), arguments.string("geometry")) {
        case (let longitude?, let latitude?, nil):
            configuration.geometry = .coordinates(longitude: longitude, latitude: latitude)
        case (nil, nil, let geometry): configuration.geometry = .column(geometry)
        default: throw arguments.usageError("give --geometry, or both --longitude and --latitude")
        }
        return configuration
    }

    // MARK: check

    private static func check(_ invocation: Invocation, _ configuration: TableFeedConfiguration) throws {
        let found = try TableCheck.run(configuration)
        invocation.show(json(found)) { show(found, invocation) }
        guard found.problems.isEmpty else {
            throw Failure(message: invocation.wantsJSON ? "" : "the table cannot be followed yet")
        }
    }

    private static func show(_ found: TableCheck, _ invocation: Invocation) {
        for problem in found.problems {
            invocation.print("missing: " + problem.message)
            for statement in problem.sql { invocation.print("    " + statement) }
        }
        if let columns = found.columns {
            invocation.print("The table can be followed.")
            invocation.print("id: \(columns.id)")
            switch columns.geometry {
            case .column(let name): invocation.print("geometry: \(name ?? "")")
            case .coordinates(let longitude, let latitude):
                invocation.print("longitude: \(longitude)")
                invocation.print("latitude: \(latitude)")
            }
            invocation.print("properties: " + columns.properties.joined(separator: ", "))
        }
        for remark in found.remarks { invocation.print("note: " + remark) }
    }

    private static func json(_ found: TableCheck) -> JSONValue {
        var object: JSONObject = [
            "ok": .bool(found.problems.isEmpty),
            "problems": .array(
                found.problems.map { problem in
                    [
                        "kind": .string(problem.kind.rawValue), "message": .string(problem.message),
                        "sql": .array(problem.sql.map { .string($0) }),
                    ]
                }),
            "notes": .array(found.remarks.map { .string($0) }),
        ]
        if let columns = found.columns {
            object["id"] = .string(columns.id)
            object["geometry"] = geometry(columns.geometry)
            object["properties"] = .array(columns.properties.map { .string($0) })
        }
        return .object(object)
    }

    private static func geometry(_ geometry: TableFeedConfiguration.Geometry) -> JSONValue {
        switch geometry {
        case .column(let name): name.map { .string($0) } ?? .null
        case .coordinates(let longitude, let latitude):
            ["longitude": .string(longitude), "latitude": .string(latitude)]
        }
    }

    // MARK: declare

    private static func declare(_ invocation: Invocation, _ configuration: TableFeedConfiguration) throws {
        var entry = configuration
        let name = invocation.arguments.string("source") ?? SourceNames.of(table: configuration.table)
        guard SourceName(name) != nil else {
            throw invocation.arguments.usageError(
                "invalid argument '\(name)' for '--source': letters, digits, '.', '_' and '-' are expected, at most 64, the "
                    + "first a letter or a digit")
        }
        if !invocation.arguments.has("unchecked") {
            let found = try TableCheck.run(configuration)
            guard let columns = found.columns, found.problems.isEmpty else {
                show(found, invocation)
                throw Failure(message: "the table cannot be followed yet; nothing was declared")
            }
            (entry.id, entry.geometry) = (columns.id, columns.geometry)
        }
        if hasPassword(entry.connection) {
            invocation.warn(
                "the entry has the connection's password in clear text: put it into ~/.pgpass or a service file instead"
            )
        }
        guard let path = invocation.arguments.string("config") else {
            let document = document(name, entry, in: [:])
            return Terminal.write((invocation.wantsJSON ? document.text : IndentedJSON.text(of: document)) + "\n")
        }
        var document: JSONObject = [:]
        if access(path, F_OK) == 0 {
            guard case .object(let object)? = try? JSONReader.parse(SmallFile.read(path)) else {
                throw Failure(message: "\(path) is not a JSON object")
            }
            document = object
        }
        if case .object(let sources)? = document["sources"], sources[name] != nil {
            throw Failure(message: "\(path) declares a source \(name) already; name another by --source")
        }
        let file = try OutputFile(path)
        try file.write(IndentedJSON.text(of: Self.document(name, entry, in: document)) + "\n")
        try file.finish()
        invocation.remark("Added \(name) to \(path). The daemon applies it when it starts or reloads (SIGHUP).")
    }

    /// Whether a connection string, of keywords and values or a URI, has a password.
    static func hasPassword(_ connection: String) -> Bool {
        connection.contains(/(^|[\s?&])password\s*=/) || connection.contains(/^postgres(ql)?:\/\/[^\/@]*:[^\/@]+@/)
    }

    /// A configuration that contains the source.
    private static func document(
        _ name: String, _ table: TableFeedConfiguration, in document: JSONObject
    ) -> JSONValue {
        var postgres: JSONObject = [
            "connection": .string(table.connection), "table": .string(table.readableTable),
        ]
        postgres["id"] = table.id.map { .string($0) }
        let geometry = geometry(table.geometry)
        if geometry != .null { postgres["geometry"] = geometry }
        postgres["properties"] = table.properties.map { .array($0.map { .string($0) }) }
        postgres["slot"] = table.slot.map { .string($0) }
        postgres["publication"] = table.publication.map { .string($0) }
        if table.isTemporary { postgres["temporary"] = .bool(true) }
        // With these, all daemons that follow the table give the same answers.
        let options: JSONObject = ["sortKey": .array([.string("id")]), "clusterIds": .string("origin")]
        var document = document
        var sources: JSONObject = [:]
        if case .object(let present)? = document["sources"] { sources = present }
        sources[name] = .object(["postgres": .object(postgres), "options": .object(options)])
        document["sources"] = .object(sources)
        return .object(document)
    }
}

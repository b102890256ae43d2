// SPDX-License-Identifier: MIT
import EventLoop

/// The result of checking a table: whether it can be followed, and what is missing.
public struct TableCheck: Sendable, Equatable {
    /// What prevents following the table; empty if nothing does.
    public internal(set) var problems: [TableProblem] = []
    /// What the daemon does by itself when it starts, and other notes; sentences without a period.
    public internal(set) var remarks: [String] = []
    /// What rows become; nil if there are problems.
    public internal(set) var columns: Columns?

    /// The columns, by what they become.
    public struct Columns: Sendable, Equatable {
        public let id: String
        public let geometry: TableFeedConfiguration.Geometry
        public let properties: [String]
    }

    /// Connects and checks, and changes nothing. Blocks, so it is for command-line tools.
    ///
    /// - Parameter milliseconds: how long the server may take altogether.
    public static func run(
        _ configuration: TableFeedConfiguration, within milliseconds: UInt64 = 30_000
    ) throws -> TableCheck {
        let loop = try EventLoop()
        let checker = TableChecker(on: loop, configuration)
        checker.start(within: milliseconds)
        loop.run()
        return checker.result
    }
}

/// The steps of a check, on a loop.
private final class TableChecker {
    private let loop: EventLoop
    private let configuration: TableFeedConfiguration
    private let connection: QueryConnection
    private var replication: ConnectionAttempt?
    private var deadline: Timer?
    private(set) var result = TableCheck()

    init(on loop: EventLoop, _ configuration: TableFeedConfiguration) {
        (self.loop, self.configuration) = (loop, configuration)
        connection = QueryConnection(on: loop, configuration.connection)
    }

    func start(within milliseconds: UInt64) {
        deadline = Timer(on: loop, delay: milliseconds) { [self] in
            fail("the server did not answer within \(milliseconds / 1000) s")
        }
        deadline?.unreference()
        connection.query(CatalogQuery.sql(configuration)) { [self] answer in
            do { check(try Catalog(try answer.mapError(\.explained).get())) } catch { fail("\(error)") }
        }
    }

    private func fail(_ message: String) {
        result.problems.add(.connection, message)
        result.columns = nil
        end()
    }

    private func end() {
        connection.close()
        replication?.cancel()
        (replication, deadline) = (nil, nil)
    }

    private func check(_ catalog: Catalog) {
        connection.close()
        switch FollowPlan.make(catalog, configuration) {
        case .success(let plan):
            result.remarks = plan.publicationSQL.map { "the daemon makes the publication ready: \($0)" }
            result.columns = columns(plan.layout)
        case .failure(let found): result.problems = found.all
        }
        result.remarks += remarks(catalog)
        // The server may accept the user, but not for replication (pg_hba.conf).
        guard catalog.mayReplicate else { return end() }
        replication = ConnectionAttempt(on: loop, configuration.connection) { [self] result in
            if case .failure(let error) = result, !error.refusesReplication {
                fail("a replication connection is refused: \(error.explained)")
            } else {
                end()
            }
        }
    }

    private func columns(_ layout: TableLayout) -> TableCheck.Columns {
        let geometry: TableFeedConfiguration.Geometry =
            switch layout.position {
            case .geometry(let column): .column(column.name)
            case .coordinates(let longitude, let latitude):
                .coordinates(longitude: longitude.name, latitude: latitude.name)
            }
        return TableCheck.Columns(id: layout.id.name, geometry: geometry, properties: layout.properties.map(\.name))
    }

    private func remarks(_ catalog: Catalog) -> [String] {
        var remarks: [String] = []
        let name = configuration.slotName
        if configuration.slot == nil {
            remarks.append("the daemon creates a replication slot of its own, whose name has the machine's id")
        } else if let slot = catalog.slot {
            if slot.isLost {
                remarks.append(
                    "replication slot \(name) was invalidated; the daemon makes it again and copies the table"
                )
            } else if let process = slot.process {
                remarks.append("replication slot \(name) is in use by process \(process) of the server")
            } else {
                remarks.append("replication slot \(name) exists and is not in use")
            }
        } else {
            remarks.append("the daemon creates the replication slot \(name)")
        }
        if catalog.table?.kind == "p" {
            remarks.append(
                "PostgreSQL does not replicate what is done to a single partition (TRUNCATE, ATTACH, DETACH, DROP): the daemon copies the table again within 30 s"
            )
        }
        if catalog.slotCount * 10 >= catalog.slotLimit * 9 {
            remarks.append(
                "\(catalog.slotCount) of \(catalog.slotLimit) replication slots are in use (max_replication_slots)")
        }
        return remarks
    }
}

/// Why a table cannot be followed, and the SQL that solves the problem.
public struct TableProblem: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Kind: String, Sendable {
        case connection, version, walLevel, standby, rights, table, key, geometry, columns, replicaIdentity,
            publication
        case slot, type
    }

    public let kind: Kind
    /// A sentence without a period.
    public let message: String
    /// The statements that solve it, each with its semicolon; empty if there are none.
    public let sql: [String]

    init(_ kind: Kind, _ message: String, sql: [String] = []) {
        (self.kind, self.message, self.sql) = (kind, message, sql)
    }

    public var description: String {
        sql.isEmpty ? message : message + "; run: " + sql.joined(separator: " ")
    }
}

extension [TableProblem] {
    mutating func add(_ kind: TableProblem.Kind, _ message: String, sql: [String] = []) {
        append(TableProblem(kind, message, sql: sql))
    }
}

/// Why a table cannot be followed; at least one problem.
struct TableProblems: Error, Sendable, Equatable, CustomStringConvertible {
    let all: [TableProblem]

    init(_ problems: [TableProblem]) {
        all = problems.isEmpty ? [TableProblem(.table, "the table cannot be followed")] : problems
    }

    var description: String { all.map(\.description).joined(separator: ". ") }
}

// SPDX-License-Identifier: MIT
import Foundation
import Synchronization

/// A real PostgreSQL server in a temporary folder, on a Unix socket only, with what logical replication needs. It ends
/// and its folder goes with this object.
///
/// Starting one takes about two seconds of processor time. Tests that only need a table share one server, each with a
/// database of its own: `PostgresServer.shared`, `makeDatabase`.
public final class PostgresServer: Sendable {
    public let folder: String
    /// The name of the socket's file ends with it; no TCP port is opened.
    public let port = 5432
    private let isRunning = Mutex(false)
    private let hasTemplate = Mutex(false)

    /// The folder of the server's programs; nil if it is not installed.
    public static let programs: String? = {
        let root = "/usr/lib/postgresql"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).sorted {
            (Int($0) ?? 0) > (Int($1) ?? 0)
        }
        return versions.map { "\(root)/\($0)/bin" }.first {
            FileManager.default.isExecutableFile(atPath: $0 + "/initdb")
        }
    }()

    /// Whether PostGIS is installed for that server.
    public static let hasPostGIS: Bool = {
        guard let programs else { return false }
        let version = programs.split(separator: "/").dropLast().last ?? ""
        return FileManager.default.fileExists(atPath: "/usr/share/postgresql/\(version)/extension/postgis.control")
    }()

    /// Whether tests with a server can run; `missing` says what is missing.
    public static let isInstalled = programs != nil && hasPostGIS
    public static let missing = "PostgreSQL with PostGIS is not installed: scripts/install-dependencies --tests"

    public struct Failure: Error, CustomStringConvertible { public let description: String }

    private static let start = Mutex<PostgresServer?>(nil)

    /// One server for all tests of a process, started by the first that asks for it.
    public static func shared() throws -> PostgresServer {
        try start.withLock { server in
            if let server { return server }
            let started = try PostgresServer()
            atexit {
                PostgresServer.start.withLock {
                    $0?.remove()
                    $0 = nil
                }
            }
            server = started
            return started
        }
    }

    /// Makes a cluster and starts its server.
    ///
    /// - Parameter settings: further lines of `postgresql.conf`.
    public init(settings: [String] = []) throws {
        guard Self.programs != nil else { throw Failure(description: Self.missing) }
        folder = try Self.makeFolder()
        try run("initdb", ["-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "-N"])
        let lines =
            [
                "listen_addresses = ''", "unix_socket_directories = '\(folder)'", "wal_level = logical",
                "max_replication_slots = 500", "max_wal_senders = 200", "max_connections = 400",
                "fsync = off", "shared_buffers = 32MB", "log_min_messages = warning",
            ] + settings
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: folder + "/settings"))
        try shell("cat '\(folder)/settings' >> '\(data)/postgresql.conf'")
        try start()
    }

    /// Makes a folder that belongs to the user who runs the server.
    private static func makeFolder() throws -> String {
        let folder = "/tmp/clusterd-pg-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // The server refuses to run as root.
        guard geteuid() == 0 else { return folder }
        let status = try DaemonProcess.run("/bin/chown", ["postgres", folder])
        guard status.status == 0 else { throw Failure(description: status.errors) }
        return folder
    }

    /// A streaming replica of another server.
    public init(standbyOf primary: PostgresServer) throws {
        folder = try Self.makeFolder()
        try run(
            "pg_basebackup",
            ["-D", data, "-R", "-X", "stream", "-c", "fast", "-h", primary.folder, "-p", "\(port)", "-U", "postgres"])
        try configure(["unix_socket_directories = '\(folder)'"])
        try start()
    }

    /// Makes a replica the primary.
    public func promote() throws { try run("pg_ctl", ["-D", data, "-w", "promote"]) }

    private var data: String { folder + "/data" }

    /// Starts the server again after `stop`.
    public func start() throws {
        try run("pg_ctl", ["-D", data, "-l", folder + "/log", "-w", "-t", "60", "start"])
        isRunning.withLock { $0 = true }
    }

    public enum StopMode: String, Sendable { case smart, fast, immediate }

    /// Stops the server; `immediate` as a crash would.
    public func stop(_ mode: StopMode = .fast) throws {
        try run("pg_ctl", ["-D", data, "-m", mode.rawValue, "-w", "stop"])
        isRunning.withLock { $0 = false }
    }

    /// Adds lines to the server's settings; most count after a restart or `SELECT pg_reload_conf()`.
    public func configure(_ lines: [String]) throws {
        for line in lines { try shell("echo \"\(line)\" >> '\(data)/postgresql.conf'") }
    }

    /// Lets all users but `postgres` in with their passwords only.
    public func onlyWithPassword() throws {
        try shell("printf 'local all postgres trust\\nlocal all all scram-sha-256\\n' > '\(data)/pg_hba.conf'")
        try sql("SELECT pg_reload_conf()")
    }

    /// What the server has logged.
    public var log: String { (try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? "" }

    /// A connection string for libpq.
    public func connection(_ database: String = "postgres", user: String = "postgres") -> String {
        "host=\(folder) port=\(port) dbname=\(database) user=\(user)"
    }

    /// Makes a database with a name of its own, with PostGIS; its name.
    public func makeDatabase(postGIS: Bool = true) throws -> String {
        let name = "test_" + UUID().uuidString.prefix(8).lowercased()
        // A copy of files writes no log, which all that follow a table of this server would have to read.
        try sql("CREATE DATABASE \(name)" + (postGIS ? " TEMPLATE \(try postGISDatabase()) STRATEGY FILE_COPY" : ""))
        return name
    }

    /// A database with PostGIS to be copied: to install PostGIS takes a second of processor time each time.
    private func postGISDatabase() throws -> String {
        try hasTemplate.withLock { isMade in
            if !isMade {
                try sql("CREATE DATABASE with_postgis")
                try sql("CREATE EXTENSION postgis", in: "with_postgis")
                isMade = true
            }
            return "with_postgis"
        }
    }

    /// Runs SQL by psql; what it prints, unaligned, without headers: fields with `|` between, a row on each line.
    @discardableResult public func sql(
        _ text: String, in database: String = "postgres", user: String = "postgres"
    ) throws -> String {
        let result = try DaemonProcess.run(
            "/usr/bin/env",
            [
                "PGOPTIONS=--client-min-messages=warning", "psql", "-X", "-q", "-A", "-t", "-v",
                "ON_ERROR_STOP=1", "-d",
                connection(database, user: user),
            ], input: Data(text.utf8))
        guard result.status == 0 else { throw Failure(description: result.errors) }
        return result.output.hasSuffix("\n") ? String(result.output.dropLast()) : result.output
    }

    /// The end of the server's log at present, for `atLeast`.
    public func position() throws -> String { try sql("SELECT pg_current_wal_lsn()") }

    private func run(_ program: String, _ arguments: [String]) throws {
        let path = (Self.programs ?? "") + "/" + program
        let result = try asServer(path, arguments)
        guard result.status == 0 else {
            throw Failure(description: "\(program): \(result.errors)\(result.output)\n\(log)")
        }
    }

    private func shell(_ script: String) throws {
        let result = try asServer("/bin/sh", ["-c", script])
        guard result.status == 0 else { throw Failure(description: result.errors) }
    }

    private func asServer(
        _ program: String, _ arguments: [String]
    ) throws -> (status: Int32, output: String, errors: String) {
        geteuid() == 0
            ? try DaemonProcess.run("/usr/sbin/runuser", ["-u", "postgres", "--", program] + arguments)
            : try DaemonProcess.run(program, arguments)
    }

    private func remove() {
        if isRunning.withLock({ $0 }) { try? stop(.immediate) }
        try? FileManager.default.removeItem(atPath: folder)
    }

    deinit { remove() }
}

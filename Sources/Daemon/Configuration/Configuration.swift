// SPDX-License-Identifier: MIT
import Calls
import Answers
import Sources
import SystemSupport
import GeoJSON
import Glibc
import HTTPDoor
import JSON

/// The daemon's configuration: flags, and a JSON file. Flags take precedence.
public struct Configuration: Sendable, Equatable {
    /// The socket's path; nil: the protocol's order of places.
    public var socket: String?
    /// The permissions of a socket that the daemon makes.
    public var socketMode: UInt32 = 0o600
    /// Where sources are kept; nil: nowhere.
    public var stateDirectory: String?
    /// Below which `LoadFile` may read.
    public var importDirectories: [String] = []
    /// Below which `PublishTiles` may write.
    public var exportDirectories: [String] = []
    public var http = HTTPSettings()
    public var limits = Limits()
    public var access = AccessPolicy()
    public var log = LogSettings()
    /// Sources that the daemon makes and fills by itself, by name.
    public var sources: [DeclaredSource] = []

    public init() {}

    /// Why a configuration cannot be used, for a person.
    public struct Problem: Error, Sendable, Equatable, CustomStringConvertible {
        public let description: String
    }

    /// If a configuration is read from that no flag names, if one is there: below the directory that
    /// systemd sets (ConfigurationDirectory=), else /etc/clusterd.
    public static var defaultFile: String? {
        let directory = getenv("CONFIGURATION_DIRECTORY").map { String(cString: $0) } ?? "/etc/clusterd"
        // Of several directories the first is the unit's own.
        let path = directory.split(separator: ":", maxSplits: 1).first.map { "\($0)/clusterd.json" }
        return path.flatMap { Glibc.access($0, F_OK) == 0 ? $0 : nil }
    }

    /// What handlers ask of this configuration.
    func liveValues(_ limits: Limits) -> LiveSettings.Values {
        LiveSettings.Values(
            limits: limits, httpLimits: http.limits.json,
            importDirectories: ImportDirectories(importDirectories),
            exportDirectories: ExportDirectories(exportDirectories),
            declaredSources: Set(sources.map(\.name)))
    }

    /// Adds an address of the command line on which HTTP is served.
    public mutating func listenForHTTP(on address: String) throws(Problem) {
        do throws(ListenAddress.Problem) { http.listen.append(try ListenAddress(address)) } catch {
            throw Problem(description: "--http: \(error.description)")
        }
    }

    /// Refuses what cannot be served, once flags and file are read.
    public func check() throws(Problem) {
        do throws(HTTPSettings.Problem) { try http.check() } catch {
            throw Problem(description: error.description)
        }
    }

    /// The most bytes of a configuration.
    static let maximumBytes = 16 << 20

    /// Takes over what a file says.
    public mutating func read(file path: String) throws(Problem) {
        let text = try Self.content(of: path)
        do throws(Problem) { try read(text) } catch {
            throw Problem(description: "\(path): \(error.description)")
        }
    }

    /// Applies a file's text; nothing if it throws. Errors contain line and column.
    public mutating func read(_ text: [UInt8]) throws(Problem) {
        var changed = self
        let reader = ConfigurationReader(text)
        let document: JSONDocument
        do throws(JSONError) { document = try JSONDocument(text) } catch {
            throw reader.problem(at: error.offset, error.message)
        }
        let problem = document.withRoot { root -> Problem? in
            do throws(Problem) {
                try reader.read(root, by: Self.members, path: "", into: &changed)
                return nil
            } catch { return error }
        }
        if let problem { throw problem }
        self = changed
    }

    private static func content(of path: String) throws(Problem) -> [UInt8] {
        guard let file = fopen(path, "re") else {
            throw Problem(description: "\(path): \(String(cString: strerror(errno)))")
        }
        defer { fclose(file) }
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            if count == 0 {
                if ferror(file) == 0 { return text }
                throw Problem(description: "\(path): \(String(cString: strerror(errno)))")
            }
            text.append(contentsOf: chunk[..<count])
            if text.count > maximumBytes {
                throw Problem(description: "\(path): the file is larger than \(maximumBytes) bytes")
            }
        }
    }
}

/// A source that the daemon makes and fills by itself.
public struct DeclaredSource: Sendable, Equatable {
    public let name: SourceName
    /// As they are given to `CreateSource`; nil: the defaults.
    public var options: JSONValue?
    /// What it is filled with; nil: nothing.
    public var file: String?
    /// The table that it follows; nil: none.
    public var postgres: PostgresSettings?
    /// Whether the file is loaded again whenever it changes.
    public var watches = true
    /// Whether bad features are left out; else they refuse the file.
    public var skipsInvalid = false
    /// Whether longitudes beyond ±180 are wrapped around.
    public var wrapsLongitudes = false
    /// Which columns mean what if the file is a table.
    public var columns = TableColumns()

    init(name: SourceName) { self.name = name }
}

/// What is said on standard error, and how.
public struct LogSettings: Sendable, Equatable {
    public var level = Log.Level.info
    public var format = Log.Format.auto
    /// Calls that take longer get a line, in milliseconds; 0: none do.
    public var slowCallMs = 1000
    /// Whether calls that are denied or change sources get a line.
    public var audits = true

    public init() {}
}

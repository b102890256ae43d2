// SPDX-License-Identifier: MIT
import RPC
import Responses
import SourceEngine
import Tokens
import Glibc
import HTTPServer
import JSON

/// The daemon's configuration: flags, and a JSON file. Flags take precedence.
public struct Configuration: Sendable, Equatable {
    /// The socket's path; nil: the first path in the protocol's order.
    public var socket: String?
    /// The permissions of a socket that the daemon creates.
    public var socketMode: UInt32 = 0o600
    /// Where sources are stored; nil if they are not persistent.
    public var stateDirectory: String?
    /// Directories from which `LoadFile` may read.
    public var importDirectories: [String] = []
    /// Directories to which `PublishTiles` may write.
    public var exportDirectories: [String] = []
    public var http = HTTPSettings()
    public var limits = Limits()
    public var access = AccessPolicy()
    public var log = LogSettings()
    /// Sources that the daemon creates and fills by itself, sorted by name.
    public var sources: [DeclaredSource] = []

    public init() {}

    /// Why a configuration cannot be used, in words for a person: a line for each mistake.
    public struct Problem: Error, Sendable, Equatable, CustomStringConvertible {
        public let lines: [String]
        public var description: String { lines.joined(separator: "\n") }

        init(description: String) { lines = [description] }

        /// Several problems as one. Beyond `most` lines they are counted.
        init(_ problems: [Problem]) {
            let all = problems.flatMap(\.lines)
            let rest = all.count - Self.most
            lines = rest > 0 ? all.prefix(Self.most) + ["and \(rest) more"] : all
        }

        private static let most = 50

        /// The same lines, each after a prefix.
        func prefixed(_ prefix: String) -> Problem {
            Problem(lines.map { Problem(description: prefix + $0) })
        }

        /// Calls `body` for each element, also after it has thrown.
        /// - Throws: what it threw, together.
        static func gathered<Element>(
            _ elements: some Sequence<Element>, _ body: (Element) throws(Problem) -> Void
        ) throws(Problem) {
            var problems: [Problem] = []
            for element in elements {
                do throws(Problem) { try body(element) } catch { problems.append(error) }
            }
            guard problems.isEmpty else { throw Problem(problems) }
        }
    }

    /// The configuration file to read if no flag names one; nil if there is none. It is in the directory that
    /// systemd sets (ConfigurationDirectory=), else in /etc/clusterd.
    public static var defaultFile: String? {
        let directory = getenv("CONFIGURATION_DIRECTORY").map { String(cString: $0) } ?? "/etc/clusterd"
        // If there are several directories, the first is the unit's own.
        let path = directory.split(separator: ":", maxSplits: 1).first.map { "\($0)/clusterd.json" }
        return path.flatMap { Glibc.access($0, F_OK) == 0 ? $0 : nil }
    }

    /// The settings of this configuration that methods read.
    func liveValues(_ limits: Limits) -> LiveSettings.Values {
        var values = LiveSettings.Values(
            limits: limits, transportLimits: ["http": .object(http.limits.json)],
            importDirectories: ImportDirectories(importDirectories),
            exportDirectories: ExportDirectories(exportDirectories), declaredSources: Set(sources.map(\.name)))
        values.access.policy = access
        values.access.tokens = TokenVerifier(http.tokens)
        values.access.tokenRight = http.tokenRight
        return values
    }

    /// Adds an HTTP address from the command line.
    public mutating func listenForHTTP(on address: String) throws(Problem) {
        do throws(ListenAddress.Problem) { http.listen.append(try ListenAddress(address)) } catch {
            throw Problem(description: "--http: \(error.description)")
        }
    }

    /// Throws if the configuration cannot be served, once flags and file are read.
    public func check() throws(Problem) {
        do throws(HTTPSettings.Problem) { try http.check() } catch {
            throw Problem(description: error.description)
        }
    }

    /// The maximum size of a configuration file in bytes.
    static let maximumBytes = 16 << 20

    /// Applies a file.
    public mutating func read(file path: String) throws(Problem) {
        let text = try Self.content(of: path)
        do throws(Problem) { try read(text) } catch { throw error.prefixed("\(path): ") }
    }

    /// Applies a file's text; if it throws, nothing has changed. The error has line and column of each mistake.
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

    static func content(of path: String, most: Int = maximumBytes) throws(Problem) -> [UInt8] {
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
            if text.count > most {
                throw Problem(description: "\(path): the file is larger than \(most) bytes")
            }
        }
    }
}

extension Configuration {
    /// Members that differ but cannot change without a restart, by their names in the file.
    func membersFixedBut(changedIn other: Configuration) -> [String] {
        Self.members.flatMap(\.fixed).filter { $0.value.differs(self, other) }.map(\.name)
    }

    /// This configuration with the old values of members that only a restart changes.
    func keepingFixed(of old: Configuration) -> Configuration {
        var kept = self
        for member in Self.members.flatMap(\.fixed) { member.value.keep(old, &kept) }
        return kept
    }
}

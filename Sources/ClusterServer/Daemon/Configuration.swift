// SPDX-License-Identifier: MIT
import ClusterSources
import Glibc
import JSON

/// What the daemon is told when it starts: by flags, and by a file of JSON. Flags win.
public struct Configuration: Sendable, Equatable {
    /// The socket's path; nil: the protocol's order of places.
    public var socket: String?
    /// Where sources are kept; nil: nowhere.
    public var stateDirectory: String?
    /// Below which `LoadFile` may read.
    public var importDirectories: [String] = []
    public var logLevel = Log.Level.info
    public var limits = Limits()

    public init() {}

    /// What handlers ask of this configuration.
    func liveValues(_ limits: Limits) -> LiveSettings.Values {
        LiveSettings.Values(limits: limits, importDirectories: ImportDirectories(importDirectories))
    }

    /// Why a configuration cannot be used, for a person.
    public struct Problem: Error, Sendable, Equatable, CustomStringConvertible {
        public let description: String
    }

    /// Takes over what a file says.
    public mutating func read(file path: String) throws(Problem) {
        guard let text = Self.content(of: path) else {
            throw Problem(description: "\(path): \(String(cString: strerror(errno)))")
        }
        do throws(Problem) { try read(text) } catch {
            throw Problem(description: "\(path): \(error.description)")
        }
    }

    /// Takes over what a file's text says; nothing where it throws.
    public mutating func read(_ text: [UInt8]) throws(Problem) {
        let value: JSONValue
        do throws(JSONError) { value = try JSONReader.parse(text) } catch {
            let (line, column) = Self.place(error.offset, in: text)
            throw Problem(description: "line \(line), column \(column): \(error.message)")
        }
        guard case .object(let object) = value else { throw Problem(description: "an object was expected") }
        var changed = self
        for (name, value) in object.members { try changed.set(name, value) }
        self = changed
    }

    private mutating func set(_ name: String, _ value: JSONValue) throws(Problem) {
        switch name {
        case "socket": socket = try Self.string(name, value)
        case "stateDirectory": stateDirectory = try Self.string(name, value)
        case "importDirectories":
            guard case .array(let values) = value else {
                throw Problem(description: "\(name) must be an array of paths")
            }
            var paths: [String] = []
            for value in values { paths.append(try Self.string("\(name)[\(paths.count)]", value)) }
            importDirectories = paths
        case "logLevel":
            guard let level = Log.Level(name: try Self.string(name, value)) else {
                throw Problem(
                    description:
                        "\(name) must be one of \(Log.Level.allCases.map(\.name).joined(separator: ", "))")
            }
            logLevel = level
        case "limits":
            guard case .object(let members) = value else {
                throw Problem(description: "limits must be an object")
            }
            for (limit, value) in members.members { try limits.set(limit, value) }
        default:
            throw Problem(
                description:
                    "\(name) is unknown; known are socket, stateDirectory, importDirectories, logLevel and limits"
            )
        }
    }

    private static func string(_ name: String, _ value: JSONValue) throws(Problem) -> String {
        guard case .string(let text) = value, !text.isEmpty, !text.utf8.contains(0) else {
            throw Problem(description: "\(name) must be a string that is not empty")
        }
        return text
    }

    private static func place(_ offset: Int, in text: [UInt8]) -> (line: Int, column: Int) {
        let before = text.prefix(max(0, offset))
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return (line, before.count - start + 1)
    }

    private static func content(of path: String) -> [UInt8]? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            if count == 0 { return ferror(file) == 0 ? text : nil }
            text.append(contentsOf: chunk[..<count])
            if text.count > 16 << 20 { return nil }
        }
    }
}

extension Limits {
    /// Sets a limit by its name on the wire.
    fileprivate mutating func set(_ name: String, _ value: JSONValue) throws(Configuration.Problem) {
        guard case .number(let number) = value, let integer = Int(exactly: number), integer >= 0 else {
            throw Configuration.Problem(description: "limits.\(name) must be an integer from 0 up")
        }
        guard let entry = Self.table.first(where: { $0.name.hasSameBytes(as: name) }) else {
            let names = Self.table.map(\.name).sorted().joined(separator: ", ")
            throw Configuration.Problem(description: "limits.\(name) is unknown; known are \(names)")
        }
        guard integer >= entry.minimum else {
            throw Configuration.Problem(description: "limits.\(name) must be above 0")
        }
        self[keyPath: entry.place] = integer
    }
}

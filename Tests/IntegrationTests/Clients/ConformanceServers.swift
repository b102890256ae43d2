// SPDX-License-Identifier: MIT
import Foundation
import TestSupport

/// What the conformance cases need: a daemon, and the servers that follow their scripts.
final class ConformanceServers {
    private static let package = Repository.root.path
    static let clients = package + "/clients"
    static let examples = package + "/Examples"
    static let cases = clients + "/conformance/cases.json"

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let daemon: DaemonProcess
    /// Has a socket for each case with a server.
    let folder: String
    private let servers = Process()

    init(_ arguments: [String] = []) throws {
        daemon = try DaemonProcess(arguments)
        folder = daemon.folder + "/servers"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        servers.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        servers.arguments = ["python3", Self.clients + "/conformance/servers.py", Self.cases, folder]
        servers.standardInput = FileHandle.nullDevice
        try servers.run()
        let end = Date(timeIntervalSinceNow: 60)
        while !FileManager.default.fileExists(atPath: folder + "/ready") {
            guard servers.isRunning, Date() < end else {
                throw Failure(description: "servers.py does not start")
            }
            sched_yield()
        }
    }

    /// The process is not waited for: Foundation notices its end only when later children have ended too.
    deinit { kill(servers.processIdentifier, SIGKILL) }

    /// The programs of a page: its blocks of code in a language.
    static func programs(in page: String, language: String) throws -> [String] {
        try String(contentsOfFile: page, encoding: .utf8).components(separatedBy: "```\(language)\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
    }

    /// Runs a client's runner with the paths of the cases, the daemon and the servers; what it says of each case.
    func run(_ command: [String], in directory: String = "/", environment: [String: String] = [:]) throws
        -> [ConformanceResult]
    {
        let words = ["-C", directory] + command + [Self.cases, daemon.socketPath, folder]
        let result = try DaemonProcess.run("/usr/bin/env", words, environment: environment)
        guard result.status == 0 else { throw Failure(description: result.errors) }
        return result.output.split(separator: "\n").compactMap { ConformanceResult(line: String($0)) }
    }
}

/// What a runner says of a case.
struct ConformanceResult: Equatable, CustomStringConvertible {
    enum Outcome: String {
        case passed = "ok"
        case failed = "not ok"
        case skipped = "skip"
    }

    let outcome: Outcome
    let name: String
    let reason: String

    init(_ outcome: Outcome, _ name: String, _ reason: String = "") {
        self.outcome = outcome
        self.name = name
        self.reason = reason
    }

    /// Reads `ok NAME`, `not ok NAME: REASON` or `skip NAME: REASON`.
    init?(line: String) {
        guard
            let outcome = [Outcome.passed, .failed, .skipped].first(where: {
                line.hasPrefix($0.rawValue + " ")
            })
        else { return nil }
        let rest = line.dropFirst(outcome.rawValue.count + 1)
        let name = rest.prefix { $0 != ":" }
        self.init(outcome, String(name), String(rest.dropFirst(name.count + 2)))
    }

    var description: String { "\(outcome.rawValue) \(name): \(reason)" }
}

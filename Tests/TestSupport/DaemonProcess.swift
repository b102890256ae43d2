// SPDX-License-Identifier: MIT
import Foundation

/// The real `clusterd` on a socket in a temporary folder of its own, ended and removed with this object.
public final class DaemonProcess {
    public let folder: String
    public let socketPath: String
    public private(set) var process: Process
    /// Where the daemon reports its state.
    public let notify: NotifySocket
    private let errorPath: String

    public struct Failure: Error, CustomStringConvertible {
        public let description: String

        public init(description: String) { self.description = description }
    }

    /// The folder in which the package's executables were built.
    public static var products: URL {
        let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        if FileManager.default.isExecutableFile(atPath: program.appendingPathComponent("clusterd").path) {
            return program
        }
        return Repository.root.appendingPathComponent(".build/debug")
    }

    /// Starts the daemon and waits until it says that it is ready.
    ///
    /// - Parameters:
    ///   - descriptors: how many descriptors it may have open; nil: as many as this process.
    ///   - fileBlocks: how large a file it may write, in 512 bytes; nil: as large as this process.
    ///   - processors: those that it may run on, as `taskset -c` takes them; nil: as this process.
    public init(
        _ arguments: [String] = [], environment: [String: String] = [:], descriptors: Int? = nil,
        fileBlocks: Int? = nil, processors: String? = nil
    ) throws {
        folder = NSTemporaryDirectory() + "clusterd-" + UUID().uuidString.prefix(12)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        socketPath = folder + "/clusterd.sock"
        let ready = try NotifySocket(path: folder + "/notify")
        notify = ready
        errorPath = folder + "/errors"
        process = try Self.make(
            ["--socket", socketPath] + arguments,
            environment.merging(["NOTIFY_SOCKET": ready.path]) { $1 }, errors: errorPath)
        let limits = [descriptors.map { "ulimit -n \($0); " }, fileBlocks.map { "ulimit -f \($0); " }]
            .compactMap { $0 }.joined()
        let prefix = processors.map { "taskset -c \($0) " } ?? ""
        if !limits.isEmpty || !prefix.isEmpty {
            process.arguments =
                ["-c", limits + "exec \(prefix)\"$0\" \"$@\"", process.executableURL?.path ?? ""]
                + (process.arguments ?? [])
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
        }
        try process.run()
        guard ready.wait(for: "READY=1") else {
            process.terminate()
            throw Failure(description: "the daemon did not become ready: \(errorText())")
        }
    }

    /// A daemon that is not started yet.
    ///
    /// - Parameter errors: the file that takes what it says. Files, not pipes: children that are started at
    ///   the same time inherit each other's pipes, which then never end.
    public static func make(
        _ arguments: [String], _ environment: [String: String] = [:], errors: String
    ) throws -> Process {
        let process = Process()
        process.executableURL = products.appendingPathComponent("clusterd")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardError = try output(to: errors)
        process.standardOutput = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        return process
    }

    /// Runs a program of the package to its end.
    public static func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], input: Data? = nil
    ) throws -> (status: Int32, output: String, errors: String) {
        let folder = NSTemporaryDirectory() + "clusterd-run-" + UUID().uuidString.prefix(12)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let process = Process()
        process.executableURL =
            program.hasPrefix("/") ? URL(fileURLWithPath: program) : products.appendingPathComponent(program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = try output(to: folder + "/output")
        process.standardError = try output(to: folder + "/errors")
        try (input ?? Data()).write(to: URL(fileURLWithPath: folder + "/input"))
        process.standardInput = FileHandle(forReadingAtPath: folder + "/input")
        try process.run()
        return (process.waitForEnd(), text(of: folder + "/output"), text(of: folder + "/errors"))
    }

    private static func output(to path: String) throws -> FileHandle {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        guard let handle = FileHandle(forWritingAtPath: path) else {
            throw Failure(description: "cannot write \(path)")
        }
        return handle
    }

    private static func text(of path: String) -> String {
        String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }

    public func client() throws -> RawClient { try RawClient(path: socketPath) }

    /// How many descriptors the daemon has open.
    public var openDescriptors: Int { descriptorNames.count }

    /// How many sockets the daemon has open. Each of its threads may open a descriptor in reserve at any time, so that
    /// only this number falls back to what it was.
    public var openSockets: Int {
        descriptorNames.count {
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: descriptors + "/" + $0)
            return target?.hasPrefix("socket:") ?? false
        }
    }

    private var descriptors: String { "/proc/\(process.processIdentifier)/fd" }

    private var descriptorNames: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: descriptors)) ?? []
    }

    /// Starts the daemon with limits of its own, as a configuration file sets them.
    public convenience init(limits: [String: Int], descriptors: Int? = nil) throws {
        let path = NSTemporaryDirectory() + "clusterd-limits-" + UUID().uuidString.prefix(12)
        let members = limits.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
        try Data("{\"limits\":{\(members.joined(separator: ","))}}".utf8).write(
            to: URL(fileURLWithPath: path))
        defer { unlink(path) }
        try self.init(["--config", path], descriptors: descriptors)
    }

    /// The most memory that the daemon has had resident, in bytes.
    public var peakMemory: Int {
        let status = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line?.split(separator: " ").dropFirst().first).flatMap { Int($0) }.map { $0 << 10 } ?? 0
    }

    /// Sends a signal and waits for the end; the exit status.
    public func end(with signal: Int32 = SIGTERM) -> Int32 {
        kill(process.processIdentifier, signal)
        return process.waitForEnd()
    }

    /// What the daemon has said.
    public func errorText() -> String { Self.text(of: errorPath) }

    deinit {
        if process.isRunning { _ = end(with: SIGKILL) }
        try? FileManager.default.removeItem(atPath: folder)
    }
}

/// A socket as a service manager's, on which a daemon reports its state.
public final class NotifySocket {
    public let path: String
    private let descriptor: Int32

    public init(path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { target in
            target.copyBytes(from: path.utf8)
            // An @ stands for the zero byte of the abstract namespace.
            if path.utf8.first == UInt8(ascii: "@") { target[0] = 0 }
        }
        let length = MemoryLayout<sa_family_t>.size + path.utf8.count + (path.hasPrefix("@") ? 0 : 1)
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let status = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(length)) }
        }
        if status != 0 { throw DaemonProcess.Failure(description: "bind \(path): errno \(errno)") }
    }

    deinit { close(descriptor) }

    /// Leaves no room for further messages until some are read.
    public func fill() {
        let sender = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(sender) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        var sent = 1
        while sent > 0 {
            sent = withUnsafePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    sendto(
                        sender, "FILL", 4, Int32(MSG_DONTWAIT), $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }
    }

    /// Waits for a message with a line; false after half a minute without.
    public func wait(for line: String) -> Bool { message(with: line) != nil }

    /// The lines of the next message that has this one; nil after half a minute without.
    public func message(with line: String) -> [String]? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &bytes, bytes.count, 0)
            // A signal that stops the process and lets it go on interrupts a call with a time limit (signal(7)).
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return nil }
            let lines = String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
            if lines.contains(line) { return lines }
        }
    }
}

// SPDX-License-Identifier: MIT
import Foundation

/// The real `clusterd` on a socket in a temporary folder of its own, ended and removed with this object.
public final class DaemonProcess {
    public let folder: String
    public let socketPath: String
    public private(set) var process: Process
    public let errorOutput = Pipe()

    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// The folder in which the package's executables were built.
    public static var products: URL {
        let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        if FileManager.default.isExecutableFile(atPath: program.appendingPathComponent("clusterd").path) {
            return program
        }
        return URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent(".build/debug")
    }

    /// Starts the daemon and waits until it says that it is ready.
    public init(_ arguments: [String] = [], environment: [String: String] = [:]) throws {
        folder = NSTemporaryDirectory() + "clusterd-" + UUID().uuidString.prefix(12)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        socketPath = folder + "/clusterd.sock"
        let ready = try NotifySocket(path: folder + "/notify")
        process = Self.make(
            ["--socket", socketPath] + arguments,
            environment.merging(["NOTIFY_SOCKET": ready.path]) { $1 }, errorOutput)
        try process.run()
        guard ready.wait(for: "READY=1") else {
            process.terminate()
            throw Failure(description: "the daemon did not become ready: \(errorText())")
        }
    }

    /// A daemon that is not started yet.
    public static func make(
        _ arguments: [String], _ environment: [String: String] = [:], _ errorOutput: Pipe
    ) -> Process {
        let process = Process()
        process.executableURL = products.appendingPathComponent("clusterd")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardError = errorOutput
        process.standardOutput = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        return process
    }

    /// Runs a program of the package to its end.
    public static func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], input: Data? = nil
    ) throws -> (status: Int32, output: String, errors: String) {
        let process = Process()
        let (output, errors, inputPipe) = (Pipe(), Pipe(), Pipe())
        process.executableURL =
            program.hasPrefix("/") ? URL(fileURLWithPath: program) : products.appendingPathComponent(program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = inputPipe
        try process.run()
        if let input { try inputPipe.fileHandleForWriting.write(contentsOf: input) }
        try inputPipe.fileHandleForWriting.close()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        let errorText = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (
            process.terminationStatus, String(decoding: text, as: UTF8.self),
            String(decoding: errorText, as: UTF8.self)
        )
    }

    public func client() throws -> RawClient { try RawClient(path: socketPath) }

    /// How many descriptors the daemon has open.
    public var openDescriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.processIdentifier)/fd").count)
            ?? 0
    }

    /// Sends a signal and waits for the end; the exit status.
    public func end(with signal: Int32 = SIGTERM) -> Int32 {
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// What the daemon said, after its end.
    public func errorText() -> String {
        String(decoding: errorOutput.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }

    deinit {
        if process.isRunning { _ = end(with: SIGKILL) }
        try? FileManager.default.removeItem(atPath: folder)
    }
}

/// A socket as a service manager's, on which a daemon tells its state.
public final class NotifySocket {
    public let path: String
    private let descriptor: Int32

    public init(path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let status = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if status != 0 { throw DaemonProcess.Failure(description: "bind \(path): errno \(errno)") }
    }

    deinit { close(descriptor) }

    /// Waits for a message with a line; false after half a minute without.
    public func wait(for line: String) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &bytes, bytes.count, 0)
            if count <= 0 { return false }
            let text = String(decoding: bytes[..<count], as: UTF8.self)
            if text.split(separator: "\n").contains(Substring(line)) { return true }
        }
    }
}

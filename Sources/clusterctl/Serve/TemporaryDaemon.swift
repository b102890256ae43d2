// SPDX-License-Identifier: MIT
import ClusterClient
import Dispatch
import Glibc
import JSON
import Synchronization
import SystemSupport

/// A private daemon of this command, on a socket in a temporary folder and on a port of the loopback
/// interface. It and its folder are removed with the command, however the command ends.
final class TemporaryDaemon: Sendable {
    var socketPath: String { folder.path + "/clusterd.sock" }

    private let folder: TemporaryFolder
    private let process: pid_t
    /// The write end of the keeper's pipe.
    private let keeper: Int32
    private let ended = DispatchGroup()
    private let isStopping = Mutex(false)
    private let status = Mutex<Int32?>(nil)
    private let waiter = Mutex<CheckedContinuation<Failure, Never>?>(nil)

    /// Starts the daemon and waits until it answers.
    ///
    /// - Parameters:
    ///   - port: the port of the map page; 0 for a free one, nil for no page.
    ///   - files: the files that it may read, with everything below their directories.
    ///   - exportDirectory: the directory in which it may write archives.
    ///   - configuration: its configuration; nil for none.
    static func start(
        port: UInt16?, files: [RegularFile], exportDirectory: String? = nil, configuration: JSONObject? = nil
    ) async throws -> TemporaryDaemon {
        guard let program = Self.program else {
            throw Failure(
                message: "clusterd is neither beside clusterctl nor on PATH; install it, or build it")
        }
        if port != nil { try checkPage(of: program) }
        var arguments = port.map { ["--http", "127.0.0.1:\($0)"] } ?? []
        for directory in Set(files.map(\.directory)) { arguments += ["--import-dir", directory] }
        if let exportDirectory { arguments += ["--export-dir", exportDirectory] }
        let daemon = try TemporaryDaemon(program, arguments, configuration)
        do { try await daemon.waitUntilReady() } catch {
            daemon.stop()
            throw error
        }
        return daemon
    }

    /// Throws if the daemon does not find the files of the map page.
    static func checkPage(of program: String) throws(Failure) {
        let path = realpath(program, nil)
        defer { free(path) }
        let resolved = path.map { String(cString: $0) } ?? program
        guard Installation.path(of: "web/index.html", source: "web/index.html", program: resolved) == nil else {
            return
        }
        let folder = Installation.parent(Installation.parent(resolved)) + "/share/clusterd/web"
        throw Failure(
            message:
                "the files of the map page are not installed: \(folder) has no index.html; 'make install', the "
                + "tarball and pip install clusterd put them there")
    }

    /// The daemon next to this program, or else on PATH.
    private static var program: String? {
        if let own = Installation.program {
            let path = Installation.parent(own) + "/clusterd"
            if access(path, X_OK) == 0 { return path }
        }
        return Program.find("clusterd")
    }

    private init(_ program: String, _ arguments: [String], _ configuration: JSONObject?) throws {
        folder = try TemporaryFolder()
        var arguments = arguments
        if let configuration {
            let path = folder.path + "/clusterd.json"
            do { try OutputFile.write(Array(JSONValue.object(configuration).text.utf8), to: path) } catch {
                folder.remove()
                throw error
            }
            arguments += ["--config", path]
        }
        let log = open(folder.path + "/log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        defer { if log >= 0 { close(log) } }
        // Variables set by a service manager or a shell are for another daemon, not for this one.
        let environment = Program.environment(without: [
            "CLUSTERD_SOCKET", "STATE_DIRECTORY", "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES",
        ])
        let socket = folder.path + "/clusterd.sock"
        do {
            let output = log >= 0 ? log : nil
            process = try Program.start(
                program, ["--socket", socket, "--log-level", "info"] + arguments, environment: environment,
                output: output, errors: output, isApart: true)
        } catch {
            folder.remove()
            throw error
        }
        keeper = Self.startKeeper(of: process, folder, environment)
        waitForEnd()
    }

    /// Starts a shell that ends the daemon and removes its folder if this process dies without doing so.
    ///
    /// - Returns: the write end of its pipe; -1 if it could not be started.
    private static func startKeeper(of process: pid_t, _ folder: TemporaryFolder, _ environment: [String]) -> Int32 {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return -1 }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let script = #"read -r line && exit 0; kill "$1"; rm -rf "$2""#
        let arguments = ["-c", script, "clusterctl-keeper", String(process), folder.path]
        let started = try? Program.start("/bin/sh", arguments, environment: environment, input: ends[0], isApart: true)
        close(ends[0])
        guard started == nil else { return ends[1] }
        close(ends[1])
        return -1
    }

    private func waitForEnd() {
        ended.enter()
        DispatchQueue.global().async { [self] in
            var code: Int32 = 0
            while waitpid(process, &code, 0) < 0, errno == EINTR {}
            status.withLock { $0 = code }
            ended.leave()
        }
    }

    private func waitUntilReady() async throws {
        for _ in 0..<3000 {
            if status.withLock({ $0 }) != nil { throw Failure(message: "the daemon did not start" + reason) }
            if let client = try? await Client.connect(socketPath: socketPath) { return client.close() }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw Failure(message: "the daemon does not answer" + reason)
    }

    private var log: [Substring] {
        ((try? SmallFile.read(folder.path + "/log")) ?? "").split(separator: "\n")
    }

    /// The daemon's last error message.
    private var reason: String {
        let complaint = log.last { !$0.contains(": info: ") && !$0.hasPrefix("Try ") }
        return complaint.map { ": \($0)" } ?? ""
    }

    /// The address of the map page, read from the daemon's log, since the system chooses the port.
    func pageAddress() throws(Failure) -> String {
        let start = "serving HTTP on "
        for line in log {
            guard let position = line.firstRange(of: start) else { continue }
            return String(line[position.upperBound...])
        }
        throw Failure(message: "the daemon does not serve HTTP" + reason)
    }

    /// Waits until the daemon has ended by itself, and returns its last message.
    func untilEnded() async -> Failure {
        await withCheckedContinuation { continuation in
            // Retained here. If `stop` ends the daemon, nothing is reported, and the process exits.
            waiter.withLock { $0 = continuation }
            ended.notify(queue: .global()) { [self] in
                guard !isStopping.withLock({ $0 }) else { return }
                let failure = Failure(message: "the daemon has ended" + reason)
                waiter.withLock { $0.take() }?.resume(returning: failure)
            }
        }
    }

    /// Ends the daemon and removes its folder. Does nothing the second time. Safe from any thread.
    func stop() {
        let isFirst = isStopping.withLock { isStopping in
            defer { isStopping = true }
            return !isStopping
        }
        guard isFirst else { return }
        if status.withLock({ $0 }) == nil { kill(process, SIGTERM) }
        if ended.wait(timeout: .now() + 5) == .timedOut {
            kill(process, SIGKILL)
            ended.wait()
        }
        folder.remove()
        guard keeper >= 0 else { return }
        _ = write(keeper, "\n", 1)
        close(keeper)
    }
}

/// A folder that only this user can read and that exists while a command runs.
struct TemporaryFolder: Sendable {
    let path: String

    /// Creates it in $TMPDIR, or in /tmp if that is not set or too long for a socket's path.
    init() throws(Failure) {
        let given = Terminal.environment("TMPDIR") ?? ""
        let parent = given.isEmpty || given.utf8.count > 60 ? "/tmp" : given
        var template = Array((parent + "/clusterctl-serve-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Failure(message: "cannot make a folder in \(parent): \(String(cString: strerror(errno)))")
        }
        path = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes the folder and the files in it.
    func remove() { FileIO.removeDirectory(path) }
}

/// Handles Ctrl-C and the signals that end programs.
final class Interruption {
    private var sources: [any DispatchSourceProtocol] = []

    /// Runs `body` on the first of these signals. Never undone.
    init(_ body: @escaping @Sendable () -> Void) {
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler(handler: body)
            source.activate()
            sources.append(source)
        }
    }
}

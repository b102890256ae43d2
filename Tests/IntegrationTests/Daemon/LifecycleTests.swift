// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

@Suite("The daemon's life")
struct LifecycleTests {
    @Test("signals end it with status 0 and remove its socket file", arguments: [SIGTERM, SIGINT])
    func signals(_ signal: Int32) throws {
        let daemon = try DaemonProcess()
        #expect(try daemon.client().call("ServerService/Check") == ["status": "SERVING"])
        #expect(daemon.end(with: signal) == 0)
        #expect(!FileManager.default.fileExists(atPath: daemon.socketPath))
    }

    @Test("a stale socket file is replaced") func staleSocket() throws {
        let daemon = try DaemonProcess()
        _ = daemon.end(with: SIGKILL)
        #expect(FileManager.default.fileExists(atPath: daemon.socketPath))
        let ready = try NotifySocket(path: daemon.folder + "/again")
        let second = try DaemonProcess.make(
            ["--socket", daemon.socketPath], ["NOTIFY_SOCKET": ready.path], errors: daemon.folder + "/second")
        try second.run()
        #expect(ready.wait(for: "READY=1"))
        #expect(try daemon.client().call("ServerService/Check") == ["status": "SERVING"])
        second.terminate()
        #expect(second.waitForEnd() == 0)
    }

    @Test("a socket in use is an error that names the process") func liveSocket() throws {
        let daemon = try DaemonProcess()
        let (status, _, errors) = try DaemonProcess.run("clusterd", ["--socket", daemon.socketPath])
        #expect(status == 1)
        #expect(errors.contains("process \(daemon.process.processIdentifier)"))
        #expect(try daemon.client().call("ServerService/Check") == ["status": "SERVING"])
    }

    @Test("a file that is not a socket is left alone") func otherFile() throws {
        let path = NSTemporaryDirectory() + "clusterd-\(UUID().uuidString)"
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
        defer { unlink(path) }
        #expect(try DaemonProcess.run("clusterd", ["--socket", path]).status == 1)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test("help and version") func help() throws {
        let help = try DaemonProcess.run("clusterd", ["--help"])
        #expect(help.status == 0)
        for flag in [
            "--socket", "--state-dir", "--import-dir", "--config", "--check-config", "--log-level",
            "--version",
        ] {
            #expect(help.output.contains(flag))
        }
        #expect(try DaemonProcess.run("clusterd", ["--version"]).output.hasPrefix("clusterd "))
    }

    @Test(
        "invalid flags end with status 2",
        arguments: [["--nope"], ["--socket"], ["--log-level", "loud"], ["extra"], ["--config", "/nonexistent/x"]])
    func wrongFlags(_ arguments: [String]) throws {
        let (status, _, errors) = try DaemonProcess.run("clusterd", arguments)
        #expect(status == 2)
        #expect(errors.hasPrefix("clusterd: "))
    }

    @Test("a configuration is checked, and its mistakes are reported with line and column")
    func configuration() throws {
        let path = NSTemporaryDirectory() + "clusterd-\(UUID().uuidString).json"
        defer { unlink(path) }
        func check(_ text: String) throws -> (status: Int32, errors: String) {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            let result = try DaemonProcess.run("clusterd", ["--config", path, "--check-config"])
            return (result.status, result.errors)
        }
        #expect(
            try check(
                #"{"socket":"/tmp/x","importDirectories":["/tmp"],"log":{"level":"debug"},"limits":{"maxCalls":5}}"#
            ).status == 0)
        let broken = try check("{\n  \"socket\": oops\n}")
        #expect(broken.status == 2)
        #expect(broken.errors.contains("line 2, column 13"))
        #expect(try check(#"{"sokcet":"x"}"#).errors.contains("sokcet is unknown"))
        #expect(try check(#"{"limits":{"maxCalls":-1}}"#).status == 2)
    }

    @Test("a socket handed over by the service manager is served and stays") func socketActivation() throws {
        let folder = NSTemporaryDirectory() + "clusterd-" + UUID().uuidString.prefix(12)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        // What systemd does: a listening socket as descriptor 3, and the process's own id in LISTEN_PID.
        let script = """
            import os, socket, sys
            s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(16)
            s.set_inheritable(True)
            if s.fileno() != 3: os.dup2(s.fileno(), 3, inheritable=True)
            os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
            os.execv(sys.argv[2], [sys.argv[2], "--log-level", "error"])
            """
        let ready = try NotifySocket(path: folder + "/notify")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "python3", "-c", script, folder + "/given.sock",
            DaemonProcess.products.appendingPathComponent("clusterd").path,
        ]
        process.environment = ProcessInfo.processInfo.environment.merging(["NOTIFY_SOCKET": ready.path]) { $1 }
        try process.run()
        #expect(ready.wait(for: "READY=1"))
        #expect(try RawClient(path: folder + "/given.sock").call("ServerService/Check") == ["status": "SERVING"])
        process.terminate()
        #expect(ready.wait(for: "STOPPING=1"))
        #expect(process.waitForEnd() == 0)
        #expect(FileManager.default.fileExists(atPath: folder + "/given.sock"))
    }
}

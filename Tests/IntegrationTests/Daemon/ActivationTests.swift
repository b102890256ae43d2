// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

@Suite("The protocol between a service manager and the daemon") struct ActivationTests {
    @Test(
        "systemd-socket-activate starts it with the first client",
        .enabled(if: has("systemd-socket-activate"), "needs systemd-socket-activate"))
    func socketActivate() throws {
        let folder = NSTemporaryDirectory() + "clusterd-" + UUID().uuidString.prefix(12)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // It starts programs without its own environment. A sanitizer needs its options, and its library if it has one.
        let passed = ProcessInfo.processInfo.environment.keys.filter {
            $0.hasSuffix("SAN_OPTIONS") || $0 == "LD_PRELOAD"
        }
        process.arguments =
            ["systemd-socket-activate", "--listen=\(folder)/s"] + passed.map { "--setenv=\($0)" }
            + [DaemonProcess.products.appendingPathComponent("clusterd").path]
        process.standardError = FileHandle.nullDevice
        try process.run()
        let end = Date(timeIntervalSinceNow: 30)
        // The socket has its name before it listens.
        var first: RawClient?
        while first == nil, Date() < end {
            first = try? RawClient(path: folder + "/s")
            sched_yield()
        }
        #expect(try first?.call("ServerService/Check") == ["status": "SERVING"])
        #expect(try RawClient(path: folder + "/s").call("ServerService/Check") == ["status": "SERVING"])
        process.terminate()
        #expect(process.waitForEnd() == 0)
    }

    /// The part of a service manager: holds a socket, and starts daemons that it hands it to.
    private static let manager = """
        import os, signal, socket, subprocess, sys, json
        folder, examples, program = sys.argv[1:4]
        sys.dont_write_bytecode = True
        sys.path.insert(0, examples)
        from clusterd_client import Client
        held = socket.socket(socket.AF_UNIX); held.bind(folder + "/s"); held.listen(16)
        assert held.fileno() == 3
        told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); told.bind(folder + "/n"); told.settimeout(30)
        def hand_over():
            os.set_inheritable(3, True)
            os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()), NOTIFY_SOCKET=folder + "/n")
        def start():
            daemon = subprocess.Popen([program], preexec_fn=hand_over, close_fds=False)
            while b"READY=1" not in told.recv(4096): pass
            return daemon
        ends, answers = [], []
        for number in (signal.SIGTERM, signal.SIGKILL):
            daemon = start()
            answers.append(Client(folder + "/s").call("ServerService/Check")["status"])
            daemon.send_signal(number)
            ends.append(daemon.wait())
            waiting = Client(folder + "/s")
            waiting.send({"id": 1, "method": "clusterd.v1.ServerService/Check"})
            daemon = start()
            answers.append(waiting.receive()["result"]["status"])
            daemon.terminate()
            ends.append(daemon.wait())
        print(json.dumps({"ends": ends, "answers": answers, "exists": os.path.exists(folder + "/s")}))
        """

    @Test("clients of a passed socket wait while the daemon is down, and are served by the next one")
    func restart() throws {
        let folder = NSTemporaryDirectory() + "clusterd-" + UUID().uuidString.prefix(12)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let examples = Repository.root.appendingPathComponent("Examples").path
        let result = try DaemonProcess.run(
            "/usr/bin/env",
            [
                "python3", "-c", Self.manager, folder, examples,
                DaemonProcess.products.appendingPathComponent("clusterd").path,
            ])
        #expect(result.status == 0, "\(result.errors)")
        let told = try JSONReader.parse(result.output)
        #expect(told["ends"] == [0, 0, -9, 0])
        #expect(told["exists"] == true)
        #expect(told["answers"] == ["SERVING", "SERVING", "SERVING", "SERVING"])
    }

    @Test(
        "messages are of the form that systemd-notify sends",
        .enabled(if: has("systemd-notify"), "needs systemd-notify"))
    func notifyForm() throws {
        let daemon = try DaemonProcess()
        let theirs = try NotifySocket(path: daemon.folder + "/theirs")
        _ = try DaemonProcess.run(
            "/usr/bin/env", ["systemd-notify", "--no-block", "--ready", "--status=0 sources, 0 points"],
            environment: ["NOTIFY_SOCKET": theirs.path])
        let expected = try #require(theirs.message(with: "READY=1"))
        kill(daemon.process.processIdentifier, SIGHUP)
        #expect(daemon.notify.message(with: "READY=1").map(Set.init) == Set(expected))
    }

    @Test("a service manager that does not read stops nothing, and hears of a reload later") func fullManager() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.client()
        daemon.notify.fill()
        kill(daemon.process.processIdentifier, SIGHUP)
        while !daemon.errorText().contains("the configuration is reloaded") {
            _ = try client.call("ServerService/Check")
        }
        #expect(daemon.notify.wait(for: "RELOADING=1"), "the reload was not reported once there was room")
        #expect(daemon.notify.wait(for: "READY=1"), "the end of the reload was not reported")
    }

    @Test("the watchdog is answered, and an address in the abstract namespace works") func watchdog() throws {
        let name = "@clusterd-" + UUID().uuidString
        let told = try NotifySocket(path: name)
        let daemon = try DaemonProcess(environment: ["WATCHDOG_USEC": "100000"])
        #expect(daemon.notify.wait(for: "WATCHDOG=1"))
        let process = try DaemonProcess.make(
            ["--socket", daemon.folder + "/second"], ["NOTIFY_SOCKET": name], errors: daemon.folder + "/e")
        try process.run()
        #expect(told.wait(for: "READY=1"))
        process.terminate()
        #expect(told.wait(for: "STOPPING=1"))
        process.waitForEnd()
    }
}

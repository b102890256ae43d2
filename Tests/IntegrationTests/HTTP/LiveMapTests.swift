// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

@Suite("The map in a terminal") struct LiveMapTests {
    /// Runs the map in a terminal of its own: waits for each text on its screen, then does what stands beside it,
    /// a key to press or an update to make.
    private static let driver = #"""
        import json, os, pty, re, select, signal, subprocess, sys, time
        program, steps = sys.argv[1], json.loads(sys.argv[2])
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(program, ["clusterctl", "map", "s"])
        seen, end = "", time.monotonic() + 60
        for wanted, keys, update in steps:
            while wanted not in seen:
                if time.monotonic() > end or not select.select([terminal], [], [], 60)[0]:
                    os.kill(pid, signal.SIGKILL)
                    sys.exit("never saw " + wanted + " in " + seen[-400:])
                text = os.read(terminal, 65536).decode("utf-8", "replace")
                seen += re.sub("\x1b\\[[^A-Za-z]*[A-Za-z]", "", text)
            seen = ""
            if update:
                subprocess.run([program, *update], check=True, stdout=subprocess.DEVNULL)
            os.write(terminal, keys.encode())
        while True:
            try:
                if not os.read(terminal, 65536):
                    break
            except OSError:
                break
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        """#

    @Test("it reacts to keys and to changes of the source", .timeLimit(.minutes(10))) func live() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "s"])
        _ = try client.importFeatures("s", [Self.point(1, 10, 10), Self.point(2, 10.001, 10)])
        let more = daemon.folder + "/more.geojson"
        try Data(Self.point(3, 40, 10).utf8).write(to: URL(fileURLWithPath: more))
        let update = JSONValue.array(["update", "s", "--upsert", .string(more)])
        let delete: JSONValue = ["delete", "s"]
        let steps: JSONValue = [
            ["0 clusters, 2 points", .string(String(repeating: "-", count: 16)), .null],
            ["1 cluster, 0 points", "?", .null], ["show this help", "", update], ["1 cluster, 1 point ", "", delete],
            ["there is no source", "q", .null],
        ]
        let program = DaemonProcess.products.appendingPathComponent("clusterctl").path
        let result = try DaemonProcess.run(
            "/usr/bin/env", ["python3", "-c", Self.driver, program, steps.text],
            environment: ["CLUSTERD_SOCKET": daemon.socketPath, "TERM": "xterm"])
        #expect(result.status == 0, "\(result.errors)")
    }

    private static func point(_ id: Int, _ x: Double, _ y: Double) -> String {
        #"{"type":"Feature","id":\#(id),"geometry":{"type":"Point","coordinates":[\#(x),\#(y)]},"properties":null}"#
    }
}

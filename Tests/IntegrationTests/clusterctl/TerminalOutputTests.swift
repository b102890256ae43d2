// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

/// What `clusterctl` prints of data that try to control the terminal.
@Suite("Output on a terminal") struct TerminalOutputTests {
    /// Runs a program with a terminal as its standard output, and prints what the terminal got as hexadecimal digits.
    private static let driver = #"""
        import os, pty, sys
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(sys.argv[1], sys.argv[1:])
        output = b""
        while True:
            try:
                piece = os.read(terminal, 65536)
            except OSError:
                break
            if not piece:
                break
            output += piece
        print(output.hex())
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        """#

    private static let hostile =
        "\u{1B}]0;title\u{7}\u{1B}[31m\u{1B}[2J\u{9B}31m\u{202E}evil\u{2066}\u{7F}\u{8}"

    private let daemon: DaemonProcess

    init() throws {
        daemon = try DaemonProcess()
        let client = try daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "s"])
        // As text that is not escaped where JSON allows that.
        let text = JSONValue.string(Self.hostile).text
        let features = (0..<3).map {
            #"{"type":"Feature","id":\#($0),"geometry":{"type":"Point","coordinates":[\#($0),2]},"properties":{"name":\#(text),\#(text):1}}"#
        }
        _ = try client.importFeatures("s", features)
    }

    private func onTerminal(_ arguments: [String]) throws -> String {
        let result = try DaemonProcess.run(
            "/usr/bin/env", ["python3", "-c", Self.driver, Self.program] + arguments,
            environment: ["CLUSTERD_SOCKET": daemon.socketPath, "TERM": "xterm"])
        #expect(result.status == 0, "\(arguments): \(result.output) \(result.errors)")
        let digits = Array(result.output.trimmingCharacters(in: .whitespacesAndNewlines).utf8)
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static var program: String { DaemonProcess.products.appendingPathComponent("clusterctl").path }

    private static let dangerous = [
        "\u{1B}]", "\u{1B}[31m", "\u{1B}[2J", "\u{9B}", "\u{202E}", "\u{2066}", "\u{7F}", "\u{8}",
    ]

    private static let commands = [
        ["clusters", "s", "--zoom", "20"], ["--output", "csv", "clusters", "s", "--zoom", "20"],
        ["--output", "json", "clusters", "s", "--zoom", "20"], ["--output", "geojson", "leaves", "s", "7"],
        ["export", "s"], ["--output", "csv", "export", "s"], ["watch", "s", "--zoom", "20", "--count", "1"],
    ]

    @Test("data cannot control the terminal, in any form of output", arguments: commands)
    func escapes(_ command: [String]) throws {
        let output = try onTerminal(command)
        #expect(output.contains("evil"), "\(output)")
        for text in Self.dangerous {
            #expect(!output.contains(text), "it has \(JSONValue.string(text).text): \(output)")
        }
    }

    @Test("a file or a program gets the data unchanged") func pipes() throws {
        for form in ["csv", "geojson"] {
            let result = try DaemonProcess.run(
                "clusterctl", ["--output", form, "export", "s"],
                environment: ["CLUSTERD_SOCKET": daemon.socketPath])
            #expect(
                result.output.contains("\u{9B}31m\u{202E}evil\u{2066}\u{7F}"), "\(form): \(result.output)")
        }
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@Suite("Texts that the programs print for packages") struct PrintedTextTests {
    private func written(_ text: String, _ name: String) throws -> String {
        let path = NSTemporaryDirectory() + "clusterd-\(UUID().uuidString)-\(name)"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    private func print(_ program: String, _ arguments: [String]) throws -> String {
        let result = try DaemonProcess.run(program, arguments)
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
        #expect(!result.output.isEmpty)
        return result.output
    }

    @Test("shells accept the completions", arguments: ["bash", "zsh", "fish"])
    func completions(_ shell: String) throws {
        for (program, arguments) in [
            ("clusterd", ["--print", shell]), ("clusterctl", ["completion", shell]),
        ] {
            let text = try print(program, arguments)
            #expect(text.contains(program == "clusterd" ? "check-config" : "import"))
            // A shell that is not here cannot judge.
            guard has(shell) else { continue }
            let path = try written(text, shell)
            defer { unlink(path) }
            let result = try DaemonProcess.run("/usr/bin/env", [shell, "-n", path])
            #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        }
    }

    @Test("troff accepts the manuals", .enabled(if: has("groff"), "needs groff")) func manuals() throws {
        for (program, arguments) in [
            ("clusterd", ["--print", "manual"]), ("clusterd", ["--print", "configuration-manual"]),
            ("clusterctl", ["manual"]),
        ] {
            let path = try written(try print(program, arguments), "manual")
            defer { unlink(path) }
            let result = try DaemonProcess.run("/usr/bin/env", ["groff", "-man", "-Tutf8", "-ww", path])
            #expect(result.status == 0 && result.errors.isEmpty, "\(arguments): \(result.errors)")
        }
    }

    @Test("the schema is in the documents")
    func schema() throws {
        #expect(
            try print("clusterd", ["--print", "configuration-schema"])
                == document("clusterd.schema.json"))
    }

    @Test("the table of the configuration's members is in the documents") func table() throws {
        let table = try print("clusterd", ["--print", "configuration-table"])
        #expect(try document("configuration.md").contains("\n" + table + "\n"))
    }

    @Test("tables of params in the documents, and types of clients, are as declared") func params() throws {
        let script = Repository.root.appendingPathComponent("scripts/generate-params").path
        let result = try DaemonProcess.run(
            "/usr/bin/env",
            ["python3", script, "--check", DaemonProcess.products.appendingPathComponent("clusterd").path])
        #expect(result.status == 0, "\(result.errors)")
    }

    private func document(_ name: String) throws -> String {
        let folder = Repository.root.appendingPathComponent("proto-docs")
        return try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    }
}

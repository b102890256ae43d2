// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

/// The commands of the documents, as readers paste them.
@Suite("Commands in the documents") struct DocumentCommandTests {
    /// Commands that are run as they stand, below.
    private static let runnable: Set = [
        "clusterctl", "clusterd", ".build/release/clusterctl", ".build/release/clusterd", "curl", "export",
        "echo", "mkdir", "Examples/places",
    ]

    /// Pages whose blocks are run. In the others each command is checked for what it names.
    private static let runPages: Set = [
        "README.md", "docs/map.md", "docs/recipes.md", "proto-docs/http.md", "Examples/web/README.md",
    ]

    /// The commands that install, build, or need a system of one's own: what they name must exist.
    private static func check(_ command: String, _ page: String) throws {
        let words = command.split(separator: " ").map(String.init)
        func isThere(_ path: String) -> Bool {
            FileManager.default.fileExists(atPath: ShellBlock.root.appendingPathComponent(path).path)
        }
        switch words[0] {
        case let script where script.hasPrefix("scripts/") || script.hasPrefix("Examples/"):
            let path = ShellBlock.root.appendingPathComponent(script).path
            #expect(FileManager.default.isExecutableFile(atPath: path), "\(page): \(command)")
        case "swift":
            #expect(["build", "test", "package"].contains(words[1]), "\(page): \(command)")
        case "pip" where words[2].hasSuffix(".whl"), "skopeo":
            // Files of a release, which scripts/package makes.
            let archive = words.first { $0.contains("clusterd-*") } ?? ""
            #expect(archive.hasSuffix(".whl") || archive.hasSuffix("-oci-x86_64.tar)"), "\(page): \(command)")
        case "docker":
            #expect(["run", "exec"].contains(words[1]) && words.contains("clusterd"), "\(page): \(command)")
        case "make": #expect(words.count == 1 && isThere("Makefile"), "\(page): \(command)")
        case "pip", "npm":
            let path = words[2].split(separator: "[")[0]
            #expect(
                words[1] == "install" && (isThere(path + "/pyproject.toml") || isThere(path + "/package.json")),
                "\(page): \(command)")
        case "go": #expect(isThere("clients/go/go.mod") && command.contains("./clients/go"))
        case "systemctl", "adduser":
            for unit in words where unit.hasPrefix("clusterd") && unit.contains(".") {
                #expect(isThere("systemd/" + unit), "\(page): \(unit)")
            }
        case "gdb", "perf", "valgrind":
            let start = try #require(words.firstIndex { $0.hasSuffix("/clusterd") })
            let result = try DaemonProcess.run("clusterd", Array(words[(start + 1)...]) + ["--check-config"])
            #expect(result.status == 0, "\(page): \(command): \(result.errors)")
        case ".build/debug/clusterctl", ".build/release/clusterctl", "clusterctl":
            let result = try DaemonProcess.run("clusterctl", Array(words.dropFirst()) + ["--help"])
            #expect(result.status == 0, "\(page): \(command): \(result.errors)")
        case "curl": #expect(words.contains { $0.hasPrefix("'http://localhost:") })
        case "grpcurl":
            let proto = try String(
                contentsOf: ShellBlock.root.appendingPathComponent("proto/clusterd/v1/clusterd.proto"), encoding: .utf8)
            let method = words.last?.split(separator: "/").last ?? ""
            #expect(method == "list" || proto.contains("rpc \(method)("), "\(page): \(command)")
        case "spark-submit":
            let script = try #require(words.first { $0.hasSuffix(".py") })
            let text = try String(contentsOf: ShellBlock.root.appendingPathComponent(script), encoding: .utf8)
            for flag in words.drop(while: { $0 != script }) where flag.hasPrefix("--") {
                #expect(text.contains("\"\(flag)\""), "\(page): \(script) has no \(flag)")
            }
        case "xdg-open": #expect(words.count == 2 && words[1].hasPrefix("http"))
        default: Issue.record("\(page): nobody runs or checks '\(command)'")
        }
    }

    @Test("each command is run or checked") func covered() throws {
        var count = 0
        for page in try ShellBlock.pages() {
            for block in try ShellBlock.blocks(of: page) where !block.isSession {
                for line in block.lines.map(ShellBlock.withoutComment) where !line.isEmpty {
                    count += 1
                    let first = line.split(separator: " ")[0]
                    if Self.runPages.contains(page), Self.runnable.contains(String(first)) { continue }
                    for command in line.components(separatedBy: " | ") { try Self.check(command, page) }
                }
            }
        }
        #expect(count > 20)
    }

    /// A block as a script: what does not end by itself is interrupted, what installs is left out.
    private static func script(_ block: ShellBlock) -> String {
        block.lines.map { line in
            let first = line.split(separator: " ").first.map(String.init) ?? ""
            if line.hasPrefix("clusterctl serve") { return "until_printed ^Map: " + line }
            if line.hasPrefix("curl -N") { return "until_printed ^data: " + line }
            if line.hasSuffix("&") {
                let words = line.split(separator: " ").map(String.init)
                let socket = words.firstIndex(of: "--socket").map { words[$0...($0 + 1)] } ?? []
                return line + "\nuntil_serving " + socket.joined(separator: " ")
            }
            return runnable.contains(first) ? line : ": " + line
        }.joined(separator: "\n") + "\n"
    }

    @Test(
        "work when they are pasted into a shell in a fresh folder",
        .enabled(if: FreshFolder.isPossible, "needs namespaces, iproute2 and curl"), arguments: runPages.sorted())
    func pasted(_ page: String) throws {
        let script = try ShellBlock.blocks(of: page).filter { !$0.isSession }.map(Self.script).joined()
        let result = try FreshFolder().run(script)
        #expect(result.status == 0, "\(page): \(script)\n\(result.output)\n\(result.errors)")
    }

    /// What differs from run to run: durations, sizes of memory, ports, and what the document leaves out.
    private static let variable = [
        #"\d+(\\\.\d+)? (µs|ms|s)"#, #"\d+(\\\.\d+)? (B|KiB|MiB|GiB)"#, #"127\\\.0\\\.0\\\.1:\d+"#, "…",
    ]

    private static func agrees(_ line: String, _ shown: String) -> Bool {
        var pattern = NSRegularExpression.escapedPattern(for: shown)
        for part in variable {
            pattern = pattern.replacingOccurrences(of: part, with: ".*", options: .regularExpression)
        }
        return line.range(of: "^" + pattern + "\\s*$", options: .regularExpression) != nil
    }

    @Test(
        "README's sessions print the documented output",
        .enabled(if: FreshFolder.isPossible, "needs namespaces, iproute2 and curl"))
    func sessions() throws {
        for block in try ShellBlock.blocks(of: "README.md") where block.isSession {
            let commands = block.session
            var script = "export CLUSTERD_SOCKET=/tmp/session.sock\nclusterd 2>/dev/null &\nuntil_serving\n"
            for (command, output) in commands {
                let isEndless = command.hasPrefix("clusterctl serve")
                // The page's address is the last line that is shown.
                let line = isEndless ? "until_printed ^\(output.last?.prefix(4) ?? "") \(command)" : command
                script += line + (isEndless ? "" : " 2>&1") + "\necho '=='\n"
            }
            let result = try FreshFolder().run(script)
            #expect(result.status == 0, "\(result.output)\n\(result.errors)")
            let outputs = result.output.components(separatedBy: "==\n").dropLast()
            #expect(outputs.count == commands.count)
            for ((command, shown), output) in zip(commands, outputs) {
                let lines = output.split(separator: "\n").map(String.init)
                let shown = command.hasPrefix("clusterctl serve") ? shown.suffix(1) : shown[...]
                #expect(
                    lines.count == shown.count && zip(lines, shown).allSatisfy(Self.agrees),
                    "\(command)\nprints \(output)")
            }
        }
    }
}

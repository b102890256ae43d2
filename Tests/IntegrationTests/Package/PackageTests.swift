// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@Suite("The package") struct PackageTests {
    private static let root = Repository.root.path

    @Test("shells accept the scripts") func scripts() throws {
        for folder in ["scripts", "scripts/deb", "scripts/packaging"] {
            for name in try FileManager.default.contentsOfDirectory(atPath: "\(Self.root)/\(folder)") {
                let path = "\(Self.root)/\(folder)/\(name)"
                guard let text = try? String(contentsOfFile: path, encoding: .utf8), text.hasPrefix("#!") else {
                    continue
                }
                #expect(FileManager.default.isExecutableFile(atPath: path), "\(path)")
                let line = text.prefix { $0 != "\n" }
                let check =
                    line.contains("python3")
                    ? ["python3", "-c", "import ast,sys; ast.parse(open(sys.argv[1]).read())"]
                    : [line.contains("bash") ? "bash" : "sh", "-n"]
                let result = try DaemonProcess.run("/usr/bin/env", check + [path])
                #expect(result.status == 0, "\(result.errors)")
            }
        }
    }

    /// What is installed, and that it is only in the given directories.
    @Test("make install installs everything below DESTDIR", .enabled(if: has("make"), "needs make"))
    func install() throws {
        let folder = NSTemporaryDirectory() + "clusterd-" + UUID().uuidString.prefix(12)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        // Programs that are built already, since building them is not what is tried here.
        let products = folder + "/scratch/release"
        try FileManager.default.createDirectory(atPath: products, withIntermediateDirectories: true)
        for name in ["clusterd", "clusterctl", "clusterd-feed"] {
            try FileManager.default.createSymbolicLink(
                atPath: "\(products)/\(name)",
                withDestinationPath: DaemonProcess.products.appendingPathComponent(name).path)
        }
        let result = try DaemonProcess.run(
            "/usr/bin/env",
            [
                "make", "-C", Self.root, "all", "install", "DESTDIR=\(folder)/root", "prefix=/opt/it",
                "scratch=\(folder)/scratch", "--old-file=build", "SHELL=/bin/sh",
            ])
        #expect(result.status == 0, "\(result.errors)")
        let installed = try Set(
            FileManager.default.subpathsOfDirectory(atPath: folder + "/root").filter { path in
                var isFolder: ObjCBool = false
                return FileManager.default.fileExists(atPath: "\(folder)/root/\(path)", isDirectory: &isFolder)
                    && !isFolder.boolValue
            })
        let share = "opt/it/share/"
        let expected: Set<String> = [
            "opt/it/bin/clusterd", "opt/it/bin/clusterctl", share + "man/man1/clusterctl.1",
            share + "man/man5/clusterd.json.5", share + "man/man8/clusterd.8",
            share + "bash-completion/completions/clusterd", share + "bash-completion/completions/clusterctl",
            share + "zsh/site-functions/_clusterd", share + "zsh/site-functions/_clusterctl",
            share + "fish/vendor_completions.d/clusterd.fish", share + "fish/vendor_completions.d/clusterctl.fish",
            "opt/it/lib/systemd/system/clusterd.service", "opt/it/lib/systemd/system/clusterd.socket",
            "opt/it/lib/systemd/user/clusterd.service", "opt/it/lib/systemd/user/clusterd.socket",
            "opt/it/lib/systemd/system/clusterd-http.socket", "opt/it/lib/systemd/user/clusterd-http.socket",
            "opt/it/lib/sysusers.d/clusterd.conf", share + "doc/clusterd/README.md",
            share + "doc/clusterd/clusterd.json", share + "doc/clusterd/clusterd.schema.json",
        ]
        let shared = installed.filter { $0.hasPrefix(share + "clusterd/") }
        let pages = share + "doc/clusterd/proto-docs"
        #expect(installed.subtracting(shared).filter { !$0.hasPrefix(pages) } == expected)
        for file in [
            "proto-docs/framing.md", "proto/clusterd/v1/clusterd.proto", "clients/python/pyproject.toml",
            "clients/python/src/clusterd/py.typed",
            "clients/javascript/clusterd.js", "clients/go/go.mod", "clients/conformance/cases.json",
            "web/index.html", "web/world-110m.geojson",
        ] {
            #expect(shared.contains("\(share)clusterd/\(file)"), "\(file)")
        }
        #expect(FileManager.default.fileExists(atPath: "\(folder)/root/\(pages)/framing.md"))
        let unit = try String(
            contentsOfFile: folder + "/root/opt/it/lib/systemd/system/clusterd.service", encoding: .utf8)
        #expect(unit.contains("ExecStart=/opt/it/bin/clusterd\n"))
    }

    @Test("make install compiles nothing", .enabled(if: has("make"), "needs make")) func installWithoutBuild() throws {
        let folder = NSTemporaryDirectory() + "clusterd-" + UUID().uuidString.prefix(12)
        let result = try DaemonProcess.run(
            "/usr/bin/env", ["make", "-C", Self.root, "install", "DESTDIR=\(folder)/root", "scratch=\(folder)/scratch"])
        #expect(result.status != 0)
        #expect(result.errors.contains("nothing is built yet: run make without root first"), "\(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    /// The whole takes a release build. This packs the programs that are built.
    @Test(
        "scripts/package makes what runs from any folder",
        .enabled(
            if: ["patchelf", "icuinfo", "strip", "gcc"].allSatisfy(has),
            "needs patchelf, icu-devtools, binutils and gcc"))
    func release() throws {
        let folder = NSTemporaryDirectory() + "clusterd-" + UUID().uuidString.prefix(12)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let packed = try DaemonProcess.run(
            "/usr/bin/env",
            [Self.root + "/scripts/package", "--programs", DaemonProcess.products.path, folder + "/first"])
        #expect(packed.status == 0, "\(packed.errors)")
        let result = try DaemonProcess.run(
            "/usr/bin/env", [Self.root + "/scripts/packaging/check.py", folder + "/first", "--any-size"])
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test("scripts/package leaves a folder with other files alone", .enabled(if: has("patchelf"), "needs patchelf"))
    func foreignFolder() throws {
        let folder = NSTemporaryDirectory() + "clusterd-" + UUID().uuidString.prefix(12)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try "mine".write(toFile: folder + "/notes.txt", atomically: true, encoding: .utf8)
        let result = try DaemonProcess.run(
            "/usr/bin/env", [Self.root + "/scripts/package", "--programs", DaemonProcess.products.path, folder])
        #expect(result.status == 1)
        #expect(result.errors.contains("has something else, such as notes.txt"), "\(result.errors)")
        #expect(FileManager.default.fileExists(atPath: folder + "/notes.txt"))
    }

    @Test("the packaged configuration is valid, except for a group that the package creates")
    func configuration() throws {
        let text = try String(contentsOfFile: Self.root + "/systemd/clusterd.json", encoding: .utf8)
        let path = NSTemporaryDirectory() + "clusterd-\(UUID().uuidString).json"
        defer { unlink(path) }
        try text.replacingOccurrences(of: "\"clusterd\"", with: "\"root\"").write(
            toFile: path, atomically: true, encoding: .utf8)
        let result = try DaemonProcess.run("clusterd", ["--config", path, "--check-config"])
        #expect(result.status == 0, "\(result.errors)")
    }
}

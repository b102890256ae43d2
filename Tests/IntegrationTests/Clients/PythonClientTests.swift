// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

/// The Python package.
@Suite("Python client") struct PythonClientTests {
    private static let package = ConformanceServers.clients + "/python"

    @Test("its own tests pass") func itsOwnTestsPass() throws {
        let daemon = try DaemonProcess()
        let result = try DaemonProcess.run(
            "/usr/bin/env", ["-C", Self.package, "python3", "-B", "-m", "unittest", "discover", "-s", "tests"],
            environment: [
                "CLUSTERD_SOCKET": daemon.socketPath,
                "CLUSTERD_PROGRAM": DaemonProcess.products.appendingPathComponent("clusterd").path,
                "PYTHONPATH": "\(Self.package)/src:\(Repository.root.path)/.build/test-python",
            ])
        #expect(result.status == 0, "\(result.errors)")
    }

    /// Without a network, and with the types and metadata that PyPI expects.
    @Test("pip installs it") func pipInstallsIt() throws {
        let folder = NSTemporaryDirectory() + "clusterd-pip-" + UUID().uuidString.prefix(12)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        guard try run(["python3", "-m", "venv", folder]).status == 0 else {
            print("python3 -m venv does not work: the installation of the Python package is not tested")
            return
        }
        let pip = folder + "/bin/pip"
        let copy = folder + "/package"
        try FileManager.default.copyItem(atPath: Self.package, toPath: copy)
        let installed = try run([pip, "install", "--no-index", "--quiet", copy])
        #expect(installed.status == 0, "\(installed.errors)")
        let shown = try run([pip, "show", "--files", "clusterd"]).output
        #expect(shown.contains("Name: clusterd\n"))
        #expect(shown.contains("clusterd/py.typed"))
        let daemon = try DaemonProcess()
        let program = "import clusterd; print(clusterd.connect().check(), clusterd.__version__)"
        let result = try DaemonProcess.run(
            folder + "/bin/python", ["-c", program], environment: ["CLUSTERD_SOCKET": daemon.socketPath])
        let version = try DaemonProcess.run("clusterd", ["--version"]).output.split(separator: " ").last ?? ""
        #expect(result.output == "True \(version)", "\(result.errors)")
    }

    private func run(_ command: [String]) throws -> (status: Int32, output: String, errors: String) {
        try DaemonProcess.run("/usr/bin/env", command)
    }
}

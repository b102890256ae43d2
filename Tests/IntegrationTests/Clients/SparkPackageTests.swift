// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

/// The package that builds images on Apache Spark.
@Suite("Spark package") struct SparkPackageTests {
    private static let package = ConformanceServers.clients + "/spark"
    private static let packages = Repository.root.path + "/.build/test-python"

    private func run(_ test: String, _ path: String) throws -> (status: Int32, output: String, errors: String) {
        try DaemonProcess.run(
            "/usr/bin/env", ["-C", Self.package, "python3", "-B", "-m", "unittest", "tests/" + test],
            environment: [
                "CLUSTERCTL": DaemonProcess.products.appendingPathComponent("clusterctl").path, "PYTHONPATH": path,
                "SPARK_LOCAL_IP": "127.0.0.1",
            ])
    }

    @Test("builds the same image with an engine that repeats, reorders and kills steps") func engine() throws {
        let result = try run("test_build.py", "src")
        #expect(result.status == 0 && !result.errors.contains("skipped"), "\(result.errors)")
    }

    @Test("builds the same image on a Spark whose executor, step and driver end") func spark() throws {
        guard FileManager.default.fileExists(atPath: Self.packages + "/pyspark") else {
            print("pyspark is not in .build/test-python: builds on Spark are not tested (scripts/test-spark does)")
            return
        }
        let result = try run("test_spark.py", "src:" + Self.packages)
        if result.errors.contains("skipped") { print("builds on Spark are not tested: \(result.errors)") }
        #expect(result.status == 0, "\(result.errors)")
    }

    /// Without a network.
    @Test("pip installs it") func pipInstallsIt() throws {
        let folder = NSTemporaryDirectory() + "clusterd-pip-" + UUID().uuidString.prefix(12)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        guard try DaemonProcess.run("/usr/bin/env", ["python3", "-m", "venv", folder]).status == 0 else {
            print("python3 -m venv does not work: the installation of the Spark package is not tested")
            return
        }
        let copy = folder + "/package"
        try FileManager.default.copyItem(atPath: Self.package, toPath: copy)
        let installed = try DaemonProcess.run(folder + "/bin/pip", ["install", "--no-index", "--quiet", copy])
        #expect(installed.status == 0, "\(installed.errors)")
        let program = "import clusterd_spark; print(clusterd_spark.build.__name__, clusterd_spark.__version__)"
        let result = try DaemonProcess.run(folder + "/bin/python", ["-c", program])
        let version = try DaemonProcess.run("clusterd", ["--version"]).output.split(separator: " ").last ?? ""
        #expect(result.output == "build \(version)", "\(result.errors)")
    }
}

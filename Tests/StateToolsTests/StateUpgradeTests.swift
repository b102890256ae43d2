// SPDX-License-Identifier: MIT
import Foundation
import JSON
import ImageStore
import Testing

@testable import SourceEngine
@testable import StateTools

/// `Tests/Data/state-0.2.0` was written by release 0.2.0; `answers.json` has what its daemon answered.
@Suite("State of release 0.2.0") struct StateUpgradeTests {
    private final class Copy {
        let path = NSTemporaryDirectory() + "clusterd-upgrade-" + UUID().uuidString

        init() throws {
            // A folder that the daemon's user alone may write.
            let data = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../Data/state-0.2.0/sources").standardized.path
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: data, toPath: path + "/sources")
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func files(_ folder: String) throws -> [String: Data] {
            var found: [String: Data] = [:]
            for name in try FileManager.default.subpathsOfDirectory(atPath: path + "/" + folder) {
                found[name] = FileManager.default.contents(atPath: "\(path)/\(folder)/\(name)")
            }
            return found
        }

        func registry() throws -> SourceRegistry {
            let registry = SourceRegistry(
                limits: SourceLimits(filterCacheBytes: 0, buildThreads: 1), directory: try StateDirectory(path))
            try registry.recover()
            return registry
        }
    }

    @Test("is refused, untouched, with the name of the command that converts it") func refused() throws {
        let copy = try Copy()
        let before = try copy.files("sources")
        let registry = try copy.registry()
        #expect(registry.all.count == 5)
        for source in registry.all {
            let error = #expect(throws: SourceError.self) { _ = try source.intactRevision() }
            #expect(error?.description.contains("clusterctl state upgrade") == true)
        }
        #expect(try copy.files("sources") == before)
    }

    @Test("is converted once, and the old files are kept") func converted() throws {
        let copy = try Copy()
        let before = try copy.files("sources").filter { $0.key.contains(".") }
        let files = try StateUpgrade.run(copy.path)
        #expect(files.count == 5, "\(files)")
        #expect(try copy.files(StateUpgrade.keptFolder).filter { $0.key.contains(".") } == before)
        #expect(try StateUpgrade.run(copy.path).isEmpty)
        for source in try StateCheck.sources(in: copy.path) {
            for finding in try StateCheck.check(source, in: copy.path) {
                #expect(finding.condition == .intact, "\(finding)")
            }
        }
        let registry = try copy.registry()
        for source in registry.all {
            #expect(try source.intactRevision().pointCount > 290, "\(source.name.text)")
        }
    }

    @Test("a damaged file is not converted, and stays as it is") func damaged() throws {
        let copy = try Copy()
        let path = copy.path + "/sources/plain/2.snapshot"
        var bytes = try #require(FileManager.default.contents(atPath: path))
        bytes[20_000] ^= 1
        try bytes.write(to: URL(filePath: path))
        #expect(throws: StateToolError.self) { try StateUpgrade.run(copy.path) }
        #expect(FileManager.default.contents(atPath: path) == bytes)
    }
}

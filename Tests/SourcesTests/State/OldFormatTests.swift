// SPDX-License-Identifier: MIT
import Foundation
import JSON
import SourceTestSupport
import Testing

@testable import Answers
@testable import SourceStorage
@testable import Sources

/// Files that an earlier release wrote.
@Suite("Old format") struct OldFormatTests {
    private static func keep(_ name: String) throws -> KeptSources {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Data/state-version-1/sources/\(name)").standardized.path
        let kept = try KeptSources()
        try kept.restart {
            try FileManager.default.createDirectory(
                atPath: kept.path + "/sources", withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: folder, toPath: kept.path + "/sources/\(name)")
        }
        return kept
    }

    /// The format version in a file's header.
    private static func version(_ path: String) throws -> UInt32 {
        try Data(contentsOf: URL(filePath: path)).withUnsafeBytes {
            $0.loadUnaligned(fromByteOffset: 8, as: UInt32.self)
        }
    }

    /// A source of two features, and a journal with an update that adds a third: what version 1 of both formats wrote.
    @Test("snapshots and journals of version 1 are read, and go on in the newest version")
    func versionOne() throws {
        let kept = try Self.keep("places")
        #expect(kept.reports.isEmpty)
        let source = try kept.source("places")
        #expect(source.revision.pointCount == 3 && source.revision.log == nil)
        try source.change(remove: [2])
        let seen = kept.seen("places")
        try kept.restart()
        #expect(kept.seen("places") == seen && kept.reports.isEmpty)
        #expect(try kept.source("places").revision.pointCount == 2)
    }

    /// Aggregates, partitions, an expiry time, appended, updated and removed features, and changed options, written by
    /// release 0.1.0; `towns.jsonl` has the answers that it gave.
    @Test(
        "a source of version 1 gives the same answers, and its journal goes on in a file of the newest version"
    )
    func answers() throws {
        let kept = try Self.keep("towns")
        #expect(kept.reports.isEmpty)
        let expected = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../Data/state-version-1/towns.jsonl").standardized, encoding: .utf8
        ).split(separator: "\n").map(String.init)
        func answers() throws -> [String] {
            let revision = try kept.source("towns").revision
            return try [0.0, 3].map { zoom in
                var bytes = ByteWriter()
                try revision.writeClusters(
                    ClustersQuery(box: .world, zoom: zoom, output: FeatureOutput()), of: revision.view,
                    into: &bytes, .never)
                return bytes.string
            }
        }
        #expect(try answers().map(Self.withoutRevision) == expected.map(Self.withoutRevision))
        try kept.source("towns").change(remove: [11])
        let changed = try answers()
        let path = kept.path + "/sources/towns/"
        #expect(try Self.version(path + "3.journal") == 1)
        #expect(try Self.version(path + "4.journal") == SectionFile.Kind.journal.version)
        try kept.restart()
        #expect(try answers().map(Self.withoutRevision) == changed.map(Self.withoutRevision))
        #expect(kept.reports.isEmpty)
    }

    private static func withoutRevision(_ text: String) -> String {
        text.replacingOccurrences(of: #""revision":\d+"#, with: "", options: .regularExpression)
    }
}

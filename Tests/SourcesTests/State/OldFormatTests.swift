// SPDX-License-Identifier: MIT
import Foundation
import SourceTestSupport
import Testing

@testable import Answers
@testable import Sources

/// Files that an earlier release wrote.
@Suite struct OldFormatTests {
    /// A source of two features, and a journal with an update that adds a third: what version 1 of both formats wrote.
    @Test("snapshots and journals of version 1 are read, and go on in the newest version")
    func versionOne() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Data/state-version-1/sources/places").standardized.path
        let kept = try KeptSources()
        try kept.restart {
            try FileManager.default.createDirectory(
                atPath: kept.path + "/sources", withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: folder, toPath: kept.path + "/sources/places")
        }
        #expect(kept.reports.isEmpty)
        let source = try kept.source("places")
        #expect(source.revision.pointCount == 3 && source.revision.log == nil)
        try source.change(remove: [2])
        let seen = kept.seen("places")
        try kept.restart()
        #expect(kept.seen("places") == seen && kept.reports.isEmpty)
        #expect(try kept.source("places").revision.pointCount == 2)
    }
}

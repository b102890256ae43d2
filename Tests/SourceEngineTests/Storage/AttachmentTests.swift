// SPDX-License-Identifier: MIT
import Foundation
import SourceTestSupport
import SystemSupport
import Testing

@testable import SourceEngine

@Suite("Attached images") struct AttachmentTests {
    /// A copy of a source's snapshot, and what clients see of the source.
    private func image(_ count: Int = 600) throws -> (path: String, seen: String) {
        let kept = try KeptSources()
        let source = try kept.create(options: #"{"clusterIds":"origin","sortKey":["id"],"radius":70}"#)
        try source.load(towns(count))
        let newest = try #require(try kept.files().filter { $0.hasSuffix(".snapshot") }.max())
        let path = NSTemporaryDirectory() + "clusterd-image-\(UUID().uuidString).clusterd"
        try FileManager.default.copyItem(atPath: kept.file(newest), toPath: path)
        return (path, kept.seen())
    }

    @Test("an attached image answers as the source that it was made of, also after restarts", arguments: [false, true])
    func answers(_ isOnDemand: Bool) throws {
        let (path, seen) = try image()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let kept = try KeptSources(isOnDemand: isOnDemand)
        let source = try kept.create()
        let outcome = try source.attach(FileDescriptor(reading: path), .never)
        #expect(outcome.accepted == 600 && source.image == path)
        #expect(kept.seen() == seen)
        #expect(try kept.files() == ["attachment.json"])
        let created = source.createdAt
        for _ in 0..<2 {
            try kept.restart()
            #expect(kept.seen() == seen)
            #expect(try kept.source().createdAt == created)
            #expect(try kept.source().image == path)
        }
        #expect(kept.reports.isEmpty, "\(kept.reports)")
    }

    @Test("an image replaces a source's data, and another image replaces an image")
    func replacement() throws {
        let (first, second) = (try image(), try image(200))
        defer { for path in [first.path, second.path] { try? FileManager.default.removeItem(atPath: path) } }
        let kept = try KeptSources()
        let source = try kept.create()
        try source.load(towns(30))
        let before = source.revision.number
        _ = try source.attach(FileDescriptor(reading: first.path), .never)
        #expect(kept.seen() == first.seen && source.revision.number > before)
        _ = try source.attach(FileDescriptor(reading: second.path), .never)
        #expect(kept.seen() == second.seen)
        try kept.restart()
        #expect(kept.seen() == second.seen)
    }

    @Test("an image is not attached while its source is being deleted, since another may follow it")
    func besideDeletion() throws {
        let (path, seen) = try image()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let kept = try KeptSources()
        let source = try kept.create()
        try source.load(towns(30))
        let (before, files) = (kept.seen(), try kept.files())
        source.jobs.holdReopening()
        #expect(throws: SourceError.sourceNotFound(source.name)) {
            _ = try source.attach(FileDescriptor(reading: path), .never)
        }
        #expect(try kept.files() == files && kept.seen() == before)
        source.jobs.releaseReopening()
        _ = try source.attach(FileDescriptor(reading: path), .never)
        #expect(kept.seen() == seen)
    }

    @Test("changes of an image are refused, and nothing of it changes")
    func changes() throws {
        let (path, seen) = try image()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let kept = try KeptSources()
        let source = try kept.create()
        _ = try source.attach(FileDescriptor(reading: path), .never)
        let refusal = SourceError.attached(source.name, path)
        #expect(throws: refusal) { try source.load(towns(3)) }
        #expect(throws: refusal) { try source.change(upsert: towns(1)) }
        #expect(throws: refusal) { _ = try source.update(options: SourceOptions(), .never) }
        #expect(throws: refusal) { try source.checkWritable(.features) }
        try source.checkWritable(.source)
        kept.wait()
        #expect(kept.seen() == seen)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
    }

    @Test("deleting a source leaves its image")
    func deletion() throws {
        let (path, seen) = try image()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let kept = try KeptSources()
        _ = try kept.create().attach(FileDescriptor(reading: path), .never)
        try kept.registry.delete(try kept.source().name)
        #expect(FileManager.default.fileExists(atPath: path))
        _ = try kept.create().attach(FileDescriptor(reading: path), .never)
        #expect(kept.seen() == seen)
    }

    @Test("a source whose image is missing is unavailable until the image is back")
    func missing() throws {
        let (path, seen) = try image()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let kept = try KeptSources()
        _ = try kept.create().attach(FileDescriptor(reading: path), .never)
        try kept.restart { try FileManager.default.moveItem(atPath: path, toPath: path + ".away") }
        #expect(throws: SourceError.self) { _ = try kept.source().intactRevision() }
        #expect(kept.reports.contains { $0.message.contains(path) })
        try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
        try kept.restart()
        #expect(kept.seen() == seen)
    }

    @Test("a file that is no image, or a damaged one, changes nothing")
    func refusals() throws {
        let (path, _) = try image()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let kept = try KeptSources()
        let source = try kept.create()
        try source.load(towns(30))
        let before = kept.seen()
        try Data(contentsOf: URL(fileURLWithPath: path)).dropLast(5).write(to: URL(fileURLWithPath: path))
        let file = try FileDescriptor(reading: path)
        #expect(Source.isImage(file))
        #expect(throws: SourceError.self) { _ = try source.attach(file, .never) }
        #expect(kept.seen() == before)
        try source.load(towns(31))
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

@testable import ImageStore
@testable import SourceEngine
@testable import StateTools
@testable import SystemSupport

/// State directories with a source `test` of 2,000 features and a changed one.
@Suite("Checking, salvaging, backing up and restoring") struct StateToolsTests {
    private final class Folder {
        let path = NSTemporaryDirectory() + "clusterd-tools-" + UUID().uuidString
        var state: String { path + "/state" }
        private(set) var registry: SourceRegistry

        init() throws {
            registry = SourceRegistry(limits: SourceLimits(filterCacheBytes: 0, buildThreads: 1))
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try open(state)
            let source = try registry.create(#require(SourceName("test")), options: SourceOptions())
            let load = FeatureImport(into: source, mode: .replace, policy: .reject)
            try add("[" + (0..<2000).map { feature($0, text: "some text") }.joined(separator: ",") + "]", to: load)
            _ = try load.finish(.never)
            try change(source, upsert: feature(5000, text: "later"), remove: "[7]")
            _ = try registry.create(#require(SourceName("beside")), options: SourceOptions())
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func open(_ directory: String) throws {
            registry = SourceRegistry(
                limits: SourceLimits(filterCacheBytes: 0, buildThreads: 1), directory: try StateDirectory(directory))
            try registry.recover()
            registry.shared.checks.sync {}
            for source in registry.all { source.jobs.wait() }
        }

        func close() {
            registry.shared.directory?.release()
            registry = SourceRegistry(limits: SourceLimits(filterCacheBytes: 0, buildThreads: 1))
        }

        func feature(_ id: Int, text: String) -> String {
            point(
                id, Double(id % 300) - 150, Double(id % 150) - 75,
                "{\"n\":\(id),\"t\":\"\(text) \(String(repeating: "x", count: 200))\"}")
        }

        func change(_ source: Source, upsert: String, remove: String) throws {
            let removals = try #require(FeatureIdentifier.list(json: Array(remove.utf8)))
            _ = try source.update(upserts: Array("[\(upsert)]".utf8), removals: removals, .never)
        }

        private func add(_ text: String, to load: FeatureImport) throws {
            try load.add(features: Array(text.utf8))
        }

        func source(_ name: String = "test") throws -> Source {
            try registry.source(#require(SourceName(name)))
        }

        func flip(_ file: String, at place: (Data) -> Int) throws {
            let url = URL(fileURLWithPath: state + "/sources/test/" + file)
            var data = try Data(contentsOf: url)
            data[place(data)] ^= 1
            try data.write(to: url)
        }
    }

    @Test("intact files are reported as intact, also in a directory in use") func intact() throws {
        let folder = try Folder()
        #expect(try StateCheck.sources(in: folder.state) == ["beside", "test"])
        let findings = try StateCheck.check("test", in: folder.state)
        #expect(findings.count == 4)
        #expect(findings.allSatisfy { $0.condition == .intact })
    }

    @Test("a damaged file is named with its bytes, in text, index, mark and record") func damaged() throws {
        let folder = try Folder()
        folder.close()
        var bytes = 0
        try folder.flip("2.snapshot") { data in
            bytes = data.firstRange(of: Data("xxxxxxxx".utf8))?.lowerBound ?? 0
            return bytes
        }
        var findings = try StateCheck.check("test", in: folder.state).filter { $0.condition != .intact }
        #expect(findings.map(\.file) == ["2.snapshot"])
        #expect(findings.first?.bytes?.contains(bytes) == true)
        try folder.flip("2.snapshot") { _ in bytes }
        try folder.flip("2.journal") { $0.count - 5 }
        findings = try StateCheck.check("test", in: folder.state).filter { $0.condition != .intact }
        #expect(findings.map(\.file) == ["2.journal"])
        #expect(findings.first?.condition == .damaged)
        #expect(try StateCheck.check("beside", in: folder.state).allSatisfy { $0.condition == .intact })
    }

    @Test("all features but those of the damaged page are verified, and the journal's changes are applied")
    func salvage() throws {
        let folder = try Folder()
        folder.close()
        try folder.flip("2.snapshot") { data in
            (data[(data.count / 3)...].firstRange(of: Data("xxxxxxxx".utf8))?.lowerBound ?? 0) + 3
        }
        let salvage = try Salvage("test", in: folder.state)
        // One page of 16 KiB is lost: fewer than eighty features of 260 bytes.
        #expect(salvage.verifiedCount > 1920)
        #expect(salvage.verifiedCount < 2000)
        #expect(salvage.verifiedCount + salvage.unverifiedCount + salvage.lostCount == 2000)
        var lines: [String] = []
        salvage.write(verifiedOnly: false) { lines.append(String(decoding: $0, as: UTF8.self)) }
        #expect(lines.count == salvage.verifiedCount + salvage.unverifiedCount)
        #expect(lines.contains { $0.contains("\"id\":5000") })
        #expect(!lines.contains { $0.contains("\"n\":7,") })
        for line in lines { #expect(throws: Never.self) { try JSONReader.parse(line) } }
        #expect(throws: StateToolError.self) { try Salvage("nothing", in: folder.state) }
    }

    @Test("a backup of a running daemon's directory restores what was acknowledged before")
    func backupAndRestore() throws {
        let folder = try Folder()
        let archive = folder.path + "/backup.tar"
        #expect(try Backup.write(folder.state, to: archive) == ["beside", "test"])
        let points = try folder.source().revision.pointCount
        try folder.change(folder.source(), upsert: folder.feature(6000, text: "after"), remove: "[]")
        let restored = folder.path + "/restored"
        #expect(try Restore.read(archive, into: restored) == ["beside", "test"])
        // A source that is there stays.
        #expect(throws: StateToolError.self) { try Restore.read(archive, sources: ["test"], into: restored) }
        folder.close()
        try folder.open(restored)
        #expect(try folder.source().revision.pointCount == points)
        try folder.change(folder.source(), upsert: folder.feature(6001, text: "new"), remove: "[]")
        #expect(throws: StateToolError.self) { try Restore.read(archive, into: restored) }
        folder.close()
    }

    @Test("a backup that is cut short or damaged restores nothing") func damagedBackup() throws {
        let folder = try Folder()
        let archive = URL(fileURLWithPath: folder.path + "/backup.tar")
        _ = try Backup.write(folder.state, sources: ["test"], to: archive.path)
        let whole = try Data(contentsOf: archive)
        var flipped = whole
        flipped[whole.count / 2] ^= 1
        for (number, data) in [Data(whole.prefix(whole.count / 2)), flipped, Data("text".utf8)].enumerated() {
            try data.write(to: archive)
            let target = folder.path + "/restored-\(number)"
            #expect(throws: StateToolError.self) { try Restore.read(archive.path, into: target) }
            let left = (try? FileManager.default.contentsOfDirectory(atPath: target + "/sources")) ?? []
            #expect(left.isEmpty)
        }
        #expect(throws: StateToolError.self) { try Backup.write(folder.state, sources: ["none"], to: archive.path) }
    }

    /// The header of a file of a backup, with another text in its field for the size.
    private static func header(size: String) throws -> [UInt8] {
        var bytes = try #require(TarHeader(name: "sources/a/1.snapshot", count: 0).bytes)
        let padding = [UInt8](repeating: 0, count: 12 - size.utf8.count)
        bytes.replaceSubrange(124..<136, with: Array(size.utf8) + padding)
        return sealed(bytes, at: 0)
    }

    /// The archive with the right sum in the header at an offset.
    private static func sealed(_ archive: [UInt8], at offset: Int) -> [UInt8] {
        var archive = archive
        archive.replaceSubrange(offset + 148..<offset + 156, with: "        ".utf8)
        let sum = archive[offset..<offset + TarHeader.size].reduce(0) { $0 + Int($1) }
        let digits = String(sum, radix: 8)
        let field = Array((String(repeating: "0", count: 6 - digits.count) + digits + "\0 ").utf8)
        archive.replaceSubrange(offset + 148..<offset + 156, with: field)
        return archive
    }

    @Test(
        "a size that is no octal number, or beyond the file, is refused",
        arguments: ["-0000000001", "-1", "+0000000001", "", "00000000008", "0x1", "77777777777", "777777777777", "1 1"])
    func badSize(_ size: String) throws {
        let archive = NSTemporaryDirectory() + "clusterd-backup-" + UUID().uuidString
        defer {
            for path in [archive, archive + "-state"] { try? FileManager.default.removeItem(atPath: path) }
        }
        try Data(Self.header(size: size) + [UInt8](repeating: 0, count: 2048)).write(
            to: URL(fileURLWithPath: archive))
        #expect(throws: StateToolError.self) { try Restore.read(archive, into: archive + "-state") }
    }

    @Test("whatever bytes of a backup are changed, it is restored or refused, and what is refused leaves nothing")
    func fuzzedBackup() throws {
        let folder = try Folder()
        let archive = folder.path + "/backup.tar"
        _ = try Backup.write(folder.state, sources: ["beside"], to: archive)
        folder.close()
        let whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: archive)))
        var headers = [0]
        while let last = headers.last, let header = TarHeader(Array(whole[last..<last + TarHeader.size])) {
            headers.append(last + TarHeader.size + header.count + TarHeader.padding(header.count))
        }
        headers.removeLast()
        #expect(headers.count == 2)
        var random = SeededRandom(seed: 29)
        var (restored, refused) = (0, 0)
        for round in 0..<400 {
            var bytes = whole
            let header = headers[Int.random(in: 0..<headers.count, using: &random)]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                // Mostly in the header, whose sum is put right again, since nothing else guards its fields.
                let isInHeader = Int.random(in: 0..<4, using: &random) > 0
                let range = isInHeader ? header..<header + TarHeader.size : 0..<bytes.count
                bytes[Int.random(in: range, using: &random)] =
                    Array("-0 7/.a".utf8 + [0, 0xff]).randomElement(using: &random) ?? 0
            }
            if round % 8 == 0 { bytes.removeLast(Int.random(in: 0...bytes.count, using: &random)) }
            if header + TarHeader.size <= bytes.count { bytes = Self.sealed(bytes, at: header) }
            try Data(bytes).write(to: URL(fileURLWithPath: archive))
            let target = folder.path + "/restored"
            do {
                _ = try Restore.read(archive, into: target)
                restored += 1
            } catch {
                refused += 1
                let left = (try? FileManager.default.contentsOfDirectory(atPath: target + "/sources")) ?? []
                #expect(left.isEmpty, "round \(round) left \(left)")
            }
            try? FileManager.default.removeItem(atPath: target)
        }
        #expect(restored > 0)
        #expect(refused > 0)
    }

    @Test("tar's own program reads a backup") func tar() throws {
        let header = TarHeader(name: "sources/a/1.snapshot", count: 12_345)
        let bytes = try #require(header.bytes)
        #expect(bytes.count == 512)
        #expect(TarHeader(bytes) == header)
        #expect(TarHeader(name: String(repeating: "x", count: 101), count: 1).bytes == nil)
        let folder = try Folder()
        let archive = folder.path + "/backup.tar"
        _ = try Backup.write(folder.state, to: archive)
        let (status, names, _) = try DaemonProcess.run("/bin/tar", ["-tf", archive])
        #expect(status == 0)
        #expect(
            names.split(separator: "\n") == [
                "sources/beside/1.snapshot", "sources/beside/1.journal", "sources/test/2.snapshot",
                "sources/test/2.journal",
            ])
    }
}

private func point(_ id: Int, _ longitude: Double, _ latitude: Double, _ properties: String) -> String {
    "{\"type\":\"Feature\",\"id\":\(id),\"geometry\":{\"type\":\"Point\",\"coordinates\":[\(longitude),\(latitude)]},\"properties\":\(properties)}"
}

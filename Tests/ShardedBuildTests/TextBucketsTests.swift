// SPDX-License-Identifier: MIT
import Foundation
import SourceTestSupport
import SystemSupport
import TestSupport
import Testing

@testable import ShardedBuild

@Suite("Buckets of text") struct TextBucketsTests {
    @Test("records come out in the order of the rows, also after a build was ended", arguments: 0..<12 as Range<UInt64>)
    func order(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let folder = try BuildFolder()
        let files = BuildFiles(folder.path, output: folder.path + "/image", threads: 1)
        let count = [0, 1, 63, 64, 900][Int(seed % 5)]
        let texts: [[UInt8]] = (0..<count).map { row in
            let size = Int.random(in: 0...9, using: &random) == 0 ? 20_000 : Int.random(in: 0...60, using: &random)
            return (0..<size).map { UInt8(truncatingIfNeeded: row &* 31 &+ $0) }
        }
        let bytes = texts.reduce(0) { $0 + $1.count }
        let memory = [1_000, 200_000, 1 << 30][Int(seed % 3)]
        var rows = Array(0..<count).shuffled(using: &random)
        var part = 0
        while !rows.isEmpty || part == 0 {
            let writer = BucketWriter(
                try TextBuckets(files, features: count, bytes: bytes, memory: memory), memory: memory)
            #expect(writer.state.parts == part)
            let some = rows.prefix(1 + count / 3)
            try add(some, texts, to: writer)
            // What an ended build has written, and not saved, is written again.
            guard Bool.random(using: &random) else { continue }
            part += 1
            try writer.save(parts: part)
            rows.removeFirst(some.count)
        }
        let state = try TextBuckets(files, features: count, bytes: bytes, memory: memory / 2)
        if count == 900, memory < 200_000 { #expect(state.buckets.count > 8, "\(state.buckets.count) buckets") }
        let starts = state.textStarts
        var (found, size): ([[UInt8]], Int) = ([], 0)
        for bucket in state.buckets.indices {
            #expect(starts[bucket] == size)
            try state.forEachRecord(of: bucket) { record in
                found.append(Array(record))
                size += record.count
            }
        }
        let isSame = found == texts
        #expect(isSame, "\(found.count) of \(count) records")
    }

    @Test("a changed character of what is known of the buckets is an error, or changes nothing") func changedState()
        throws
    {
        let folder = try BuildFolder()
        let files = BuildFiles(folder.path, output: folder.path + "/image", threads: 1)
        let texts = (0..<90).map { row in [UInt8](repeating: UInt8(row), count: 20 + row) }
        let bytes = texts.reduce(0) { $0 + $1.count }
        func open() throws(BuildError) -> TextBuckets {
            try TextBuckets(files, features: 90, bytes: bytes, memory: 1_000)
        }
        let writer = BucketWriter(try open(), memory: 1_000)
        try add(Array(0..<90)[...], texts, to: writer)
        try writer.save(parts: 1)
        let known = try FileIO.contents(of: files.buckets)
        #expect(writer.state.buckets.count > 1)
        var refused = 0
        for offset in known.indices {
            for character in "-0159,".utf8 where known[offset] != character {
                var changed = known
                changed[offset] = character
                try Data(changed).write(to: URL(fileURLWithPath: files.buckets))
                do throws(BuildError) {
                    let state = try open()
                    var found: [[UInt8]] = []
                    for bucket in state.buckets.indices {
                        try state.forEachRecord(of: bucket) { found.append(Array($0)) }
                    }
                    let isSame = found == texts && state.textStarts == writer.state.textStarts
                    #expect(isSame, "\(String(decoding: changed, as: UTF8.self))")
                } catch { refused += 1 }
            }
        }
        #expect(refused > known.count, "\(refused) of \(known.count) characters, each changed to several")
    }

    private func add(_ rows: ArraySlice<Int>, _ texts: [[UInt8]], to writer: BucketWriter) throws {
        for row in rows {
            try writer.begin(row: row, bytes: texts[row].count)
            // In pieces, as they come.
            texts[row].withUnsafeBytes { text in
                for start in stride(from: 0, to: text.count, by: 7) {
                    writer.append(UnsafeRawBufferPointer(rebasing: text[start..<min(text.count, start + 7)]))
                }
            }
        }
    }

    @Test("a changed byte anywhere is an error")
    func damage() throws {
        let folder = try BuildFolder()
        let files = BuildFiles(folder.path, output: folder.path + "/image", threads: 1)
        let texts = (0..<20).map { [UInt8](repeating: UInt8($0), count: $0) }
        let writer = BucketWriter(try TextBuckets(files, features: 20, bytes: 190, memory: 1 << 30), memory: 1 << 30)
        try add((0..<20).shuffled()[...], texts, to: writer)
        try writer.save(parts: 1)
        let intact = try FileIO.contents(of: files.bucket(0))
        for index in intact.indices {
            var bytes = intact
            bytes[index] ^= 1 << UInt8(index % 8)
            try Data(bytes).write(to: URL(fileURLWithPath: files.bucket(0)))
            let error = #expect(throws: BuildError.self, "byte \(index)") {
                try writer.state.forEachRecord(of: 0) { _ in }
            }
            #expect(error?.description.contains("is damaged") == true)
        }
    }
}

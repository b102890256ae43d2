// SPDX-License-Identifier: MIT
import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import ShardedBuild

@Suite("Files of packed values")
struct PackedBlockTests {
    private struct Record: BitwiseCopyable, Equatable {
        var x: Double
        var order: UInt32
        var kind: UInt32
    }

    /// Values as they lie in the files of a build, and such as fill all bits.
    private static func records(_ count: Int, _ shape: Int, _ random: inout SeededRandom) -> [Record] {
        var order = UInt32(truncatingIfNeeded: random.next())
        return (0..<count).map { _ in
            switch shape {
            case 0:
                order &+= UInt32.random(in: 0..<300, using: &random)
                return Record(x: Double(Float.random(in: 0..<1, using: &random)), order: order, kind: 1)
            case 1:
                return Record(
                    x: Double(bitPattern: random.next()), order: UInt32(truncatingIfNeeded: random.next()),
                    kind: UInt32(truncatingIfNeeded: random.next()))
            default:
                return Record(x: -0.0, order: .max, kind: UInt32.random(in: 0..<3, using: &random) << 29)
            }
        }
    }

    @Test("what is packed is unpacked again, whatever the values", arguments: 0..<3)
    func roundTrips(shape: Int) throws {
        var random = SeededRandom(seed: UInt64(shape) + 1)
        for count in [0, 1, 2, 7, 2047, 2048, 2049, 10_000] {
            let folder = try BuildFolder()
            try withExtendedLifetime(folder) {
                let path = "\(folder.path)/values"
                let records = Self.records(count, shape, &random)
                let writer = try ValueWriter<Record>(path, bufferBytes: 1 << 12)
                for record in records.prefix(count / 2) { try writer.append(record) }
                try records.dropFirst(count / 2).withContiguousStorageIfAvailable { try writer.append(contentsOf: $0) }
                try writer.finish()
                #expect(writer.count == count)
                let reader = try ValueReader<Record>(path, bufferBytes: 1 << 12)
                var read: [Record] = []
                while let record = try reader.read() { read.append(record) }
                #expect(reader.count == count)
                #expect(Self.bits(read) == Self.bits(records), "\(count) values of shape \(shape) differ")
                let array: [Record] = try Self.array(path)
                #expect(Self.bits(array) == Self.bits(records), "an array of \(count) values differs")
            }
        }
    }

    private static func array<Value: BitwiseCopyable>(_ path: String) throws -> [Value] {
        let mapped = try MappedValues<Value>(path)
        return withExtendedLifetime(mapped) { Array(mapped.values) }
    }

    private static func bits(_ records: [Record]) -> [[UInt64]] {
        records.map { [$0.x.bitPattern, UInt64($0.order), UInt64($0.kind)] }
    }

    @Test("bytes are stored as they are, and words that are alike take little room")
    func sizes() throws {
        var random = SeededRandom(seed: 5)
        let folder = try BuildFolder()
        try withExtendedLifetime(folder) {
            let directory = folder.path
            let bytes = (0..<100_000).map { _ in UInt8.random(in: 0...255, using: &random) }
            let text = try ValueWriter<UInt8>("\(directory)/text")
            try bytes.withUnsafeBufferPointer { try text.append(contentsOf: $0) }
            try text.finish()
            #expect(try Self.array("\(directory)/text") == bytes)
            let records = Self.records(100_000, 0, &random)
            let writer = try ValueWriter<Record>("\(directory)/records")
            for record in records { try writer.append(record) }
            try writer.finish()
            // Five bytes of a coordinate, two of a difference, none of what is the same everywhere.
            #expect(FileIO.size("\(directory)/records") < 100_000 * 8)
        }
    }

    @Test("a damaged file is an error, whichever byte it is")
    func damage() throws {
        var random = SeededRandom(seed: 6)
        let folder = try BuildFolder()
        try withExtendedLifetime(folder) {
            let directory = folder.path
            let path = "\(directory)/values"
            let writer = try ValueWriter<Record>(path)
            for record in Self.records(300, 0, &random) { try writer.append(record) }
            try writer.finish()
            let intact = try Data(contentsOf: URL(fileURLWithPath: path))
            for offset in intact.indices {
                var bytes = intact
                bytes[offset] ^= UInt8(1 << Int.random(in: 0..<8, using: &random))
                try bytes.write(to: URL(fileURLWithPath: path))
                #expect(throws: BuildError.self, "a changed byte at \(offset) was not noticed") {
                    _ = try MappedValues<Record>(path)
                }
            }
            try intact.dropLast(8).write(to: URL(fileURLWithPath: path))
            #expect(throws: BuildError.self) { _ = try MappedValues<Record>(path) }
        }
    }
}

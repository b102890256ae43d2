// SPDX-License-Identifier: MIT
import Glibc
import SourceEngine
import SystemSupport

/// A source's journal: a good one that the input changes, or a record with the input as its content. A start must end,
/// what it then serves must be safe to ask and to change, and a change must be there after another start.
///
/// The first byte decides which; changes are three bytes each: a place (two bytes), and what is added there.
final class JournalTarget: FuzzTarget {
    private let folder = "/dev/shm/clusterd-fuzz-journal-\(getpid())"
    private var files: [String: [UInt8]] = [:]
    private var count = 0

    init() {
        guard let name = SourceName("a") else { violated("a is a name") }
        mkdir(folder, 0o700)
        let base = folder + "/base"
        do {
            let registry = try Self.registry(base)
            let source = try registry.create(name, options: SourceOptions())
            try Self.update(source, (0..<40).map { Self.feature($0) })
            try Self.update(source, [Self.feature(7), Self.feature(100)])
        } catch { violated("a source can be made: \(error)") }
        for file in ["1.snapshot", "1.journal"] { files[file] = Self.read("\(base)/sources/a/\(file)") }
        if files["1.journal"]?.isEmpty != false { violated("there is a journal") }
    }

    func take(_ input: UnsafeRawBufferPointer) {
        guard let mode = input.first, var journal = files["1.journal"] else { return }
        let rest = input.dropFirst()
        if mode % 2 == 0 {
            for change in stride(from: rest.startIndex, to: rest.endIndex - 2, by: 3) {
                let place = Int(input[change]) << 8 | Int(input[change + 1])
                if place < journal.count {
                    journal[place] &+= input[change + 2]
                } else {
                    journal.removeLast(min(journal.count, Int(input[change + 2])))
                }
            }
        } else {
            journal += Self.record(Array(rest), number: 3)
        }
        count += 1
        let path = "\(folder)/\(count)"
        for part in ["", "/sources", "/sources/a"] { mkdir(path + part, 0o700) }
        Self.write(files["1.snapshot"] ?? [], to: path + "/sources/a/1.snapshot")
        Self.write(journal, to: path + "/sources/a/1.journal")
        start(path)
        Self.remove(path)
    }

    private func start(_ path: String) {
        guard let registry = try? Self.registry(path) else { return }
        var served: [SourceName: Int] = [:]
        for source in registry.all {
            let description = source.description
            if description.state == .ready, description.revision.pointCount == 0 { continue }
            guard description.state == .ready else { continue }
            let before = source.revision.pointCount
            guard (try? Self.update(source, [Self.feature(100_000)])) != nil else { continue }
            if source.revision.pointCount < before { violated("an update that adds a feature takes none away") }
            served[source.name] = source.revision.pointCount
        }
        guard !served.isEmpty else { return }
        // Another start takes a lock of its own, as after the end of the process.
        unlink(path + "/lock")
        guard let registry = try? Self.registry(path) else {
            violated("what could be started can be started again")
        }
        for (name, points) in served where (try? registry.source(name))?.revision.pointCount != points {
            violated("a change that was acknowledged is there after another start")
        }
    }

    private static func registry(_ path: String) throws -> SourceRegistry {
        let registry = SourceRegistry(
            limits: SourceLimits(filterCacheBytes: 0, buildThreads: 1), directory: try StateDirectory(path))
        try registry.recover()
        return registry
    }

    private static func feature(_ id: Int) -> String {
        #"{"type":"Feature","id":\#(id),"geometry":{"type":"Point","coordinates":[\#(id % 90),1.5]},"properties":{"n":\#(id)}}"#
    }

    private static func update(_ source: Source, _ features: [String]) throws {
        let text = Array("[\(features.joined(separator: ","))]".utf8)
        _ = try source.update(upserts: text, removals: [], .never)
    }

    /// A record as the journal has it: length, number, checksums, content.
    private static func record(_ content: [UInt8], number: UInt64) -> [UInt8] {
        func bytes(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }
        let start = bytes(UInt64(content.count)) + bytes(number)
        let head = crc32(start, from: 0)
        return start + bytes(crc32(content, from: head)) + bytes(head) + content
    }

    private static func crc32(_ bytes: [UInt8], from sum: UInt32) -> UInt32 {
        var sum = ~sum
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 0 ? sum >> 1 : sum >> 1 ^ 0xedb8_8320 }
        }
        return ~sum
    }

    private static func read(_ path: String) -> [UInt8] {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = Glibc.read(file, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }

    private static func write(_ bytes: [UInt8], to path: String) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        if Glibc.write(file, bytes, bytes.count) != bytes.count { violated("a file can be written") }
        close(file)
    }

    private static func remove(_ path: String) {
        for folder in ["damaged/a", "damaged", "sources/a", "sources", ""] {
            let folder = path + "/" + folder
            guard let directory = opendir(folder) else { continue }
            while let entry = readdir(directory) {
                let name = withUnsafeBytes(of: entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                unlink(folder + "/" + name)
            }
            closedir(directory)
            rmdir(folder)
        }
    }
}

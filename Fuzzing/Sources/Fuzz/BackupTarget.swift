// SPDX-License-Identifier: MIT
import Foundation
import SourceEngine
import StateTools

/// A backup that the input changes. A restore must end, a refused one must leave nothing, and a start on what was
/// restored must end.
///
/// The first byte decides whether the headers' sums are put right, since without that few changes are read any further.
/// Changes are three bytes each: an offset (two bytes), and what is added there.
final class BackupTarget: FuzzTarget {
    private let folder = "/dev/shm/clusterd-fuzz-backup-\(getpid())"
    private var good: [UInt8] = []
    private var headers: [Int] = []
    private var count = 0

    init() {
        guard let name = SourceName("a") else { violated("a is a name") }
        mkdir(folder, 0o700)
        let (state, archive) = (folder + "/base", folder + "/good.tar")
        do {
            let registry = SourceRegistry(
                limits: SourceLimits(filterCacheBytes: 0, buildThreads: 1),
                directory: try StateDirectory(state))
            let source = try registry.create(name, options: SourceOptions())
            let text = Array(
                #"[{"type":"Feature","id":1,"geometry":{"type":"Point","coordinates":[1,2]},"properties":{}}]"#
                    .utf8)
            _ = try source.update(upserts: text, removals: [], .never)
            _ = try Backup.write(state, to: archive)
        } catch { violated("a backup can be made: \(error)") }
        good = Self.read(archive)
        var offset = 0
        while offset + 512 <= good.count, good[offset] != 0 {
            headers.append(offset)
            let digits = good[offset + 124..<offset + 135]
            let size = digits.reduce(0) { $0 * 8 + Int($1 & 7) }
            offset += 512 + (size + 511) / 512 * 512
        }
        if headers.count != 2 { violated("a backup has a snapshot and a journal") }
    }

    func take(_ input: UnsafeRawBufferPointer) {
        guard let mode = input.first else { return }
        var bytes = good
        for change in stride(from: 1, to: input.count - 2, by: 3) {
            let offset = Int(input[change]) << 8 | Int(input[change + 1])
            if offset < bytes.count {
                bytes[offset] &+= input[change + 2]
            } else {
                bytes.removeLast(min(bytes.count, Int(input[change + 2])))
            }
        }
        if mode % 2 == 0 { for header in headers where header + 512 <= bytes.count { seal(&bytes, header) } }
        count += 1
        let (archive, state) = ("\(folder)/\(count).tar", "\(folder)/\(count)")
        Self.write(bytes, to: archive)
        if (try? Restore.read(archive, into: state)) != nil {
            // Another start takes a lock of its own, as after the end of the process.
            unlink(state + "/lock")
            let limits = SourceLimits(filterCacheBytes: 0, buildThreads: 1)
            if let directory = try? StateDirectory(state) {
                try? SourceRegistry(limits: limits, directory: directory).recover()
            }
        } else if let left = try? FileManager.default.contentsOfDirectory(atPath: state + "/sources"), !left.isEmpty {
            violated("a restore that is refused leaves nothing")
        }
        unlink(archive)
        try? FileManager.default.removeItem(atPath: state)
    }

    private func seal(_ bytes: inout [UInt8], _ header: Int) {
        let field = header + 148..<header + 156
        bytes.replaceSubrange(field, with: "        ".utf8)
        let digits = String(bytes[header..<header + 512].reduce(0) { $0 + Int($1) }, radix: 8)
        bytes.replaceSubrange(
            field,
            with: Array(String(repeating: "0", count: 6 - digits.count).utf8) + Array(digits.utf8) + [
                0, 0x20,
            ])
    }

    private static func read(_ path: String) -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: path) else { violated("\(path) can be read") }
        return [UInt8](data)
    }

    private static func write(_ bytes: [UInt8], to path: String) {
        if !FileManager.default.createFile(atPath: path, contents: Data(bytes)) { violated("\(path) can be written") }
    }
}

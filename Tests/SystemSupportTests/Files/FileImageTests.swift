// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import SystemSupport

@Suite("File images")
struct FileImageTests {
    private func withFile(_ count: Int, _ body: (String, [UInt8]) throws -> Void) throws {
        let path = NSTemporaryDirectory() + "clusterd-image-" + UUID().uuidString
        defer { unlink(path) }
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        try body(path, bytes)
    }

    @Test("loaded bytes stay, whatever happens to the file", arguments: [0, 1, 65_535, 65_536, 200_001])
    func loaded(_ count: Int) throws {
        try withFile(count) { path, bytes in
            let image = try FileImage(loading: path)
            try #require(truncate(path, 0) == 0)
            #expect(image.bytes.elementsEqual(bytes))
            #expect(throws: Never.self) { try image.load(0..<count) }
        }
    }

    @Test("a truncated or unreadable file is an error, not a signal")
    func cutShort() throws {
        try withFile(200_000) { path, bytes in
            let image = try FileImage(path)
            try image.load(0..<10)
            try #require(truncate(path, 100_000) == 0)
            #expect(throws: FileError.self) { try image.load(150_000..<150_001) }
            #expect(image.failure != nil)
            #expect(image.bytes[..<10].elementsEqual(bytes[..<10]))
        }
    }

    @Test("several threads load one file")
    func threads() throws {
        try withFile(1 << 20) { path, bytes in
            let image = try FileImage(path)
            DispatchQueue.concurrentPerform(iterations: 16) { share in
                let start = share / 2 * (1 << 17)
                try? image.load(start..<start + (1 << 17))
            }
            #expect(image.failure == nil)
            #expect(image.bytes.elementsEqual(bytes))
        }
    }

    @Test("missing files, directories and links are rejected")
    func refused() throws {
        let error = #expect(throws: FileError.self) { try FileImage("/nowhere/at-all") }
        #expect(error?.isMissing == true)
        #expect(throws: FileError.self) { try FileImage("/") }
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import SystemSupport

@Suite("Images of files")
struct FileImageTests {
    @Test("have all bytes, whatever the size", arguments: [0, 1, 65_535, 65_536, 300_001])
    func content(_ size: Int) throws {
        let path = NSTemporaryDirectory() + "clusterd-image-" + UUID().uuidString
        defer { unlink(path) }
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        try Data(bytes).write(to: URL(filePath: path))
        let image = try FileImage(loading: path)
        try Data().write(to: URL(filePath: path))
        #expect(Array(image.bytes) == bytes)
        withExtendedLifetime(image) {}
    }

    @Test("of files that are not there, or are no files, are errors") func missing() {
        let error = #expect(throws: FileError.self) { try FileImage(loading: "/nowhere/at-all") }
        #expect(error?.isMissing == true)
        #expect(throws: FileError.self) { try FileImage(loading: "/") }
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

/// State directories that releases have written, and what their daemons answered; see Tests/Data/make-state.
@Suite("State of releases")
struct ReleasedStateTests {
    private static let data = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../Data").standardized.path

    /// The folders that make-state has written; state of 0.2.0 is converted first, which another test does.
    private static let releases = ((try? FileManager.default.contentsOfDirectory(atPath: data)) ?? [])
        .filter { $0.hasPrefix("state-") && !$0.hasPrefix("state-0.") && !$0.hasPrefix("state-version") }
        .sorted()

    private static func makeState(_ arguments: [String]) throws -> (status: Int32, output: String, errors: String) {
        try DaemonProcess.run("/usr/bin/env", ["python3", "\(data)/make-state"] + arguments)
    }

    private static let program = DaemonProcess.products.appendingPathComponent("clusterd").path

    @Test("is opened, with the same answers", arguments: releases) func opened(_ release: String) throws {
        let result = try Self.makeState(["--check", Self.program, "\(Self.data)/\(release)"])
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test("of this one is opened, with the same answers; a different answer is found")
    func own() throws {
        let folder = NSTemporaryDirectory() + "clusterd-state-" + UUID().uuidString.prefix(8)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let written = try Self.makeState([Self.program, folder])
        #expect(written.status == 0, "\(written.errors)")
        let same = try Self.makeState(["--check", Self.program, folder])
        #expect(same.status == 0, "\(same.errors)")
        let answers = folder + "/answers.json"
        let text = try String(contentsOfFile: answers, encoding: .utf8)
        try text.replacingOccurrences(of: "\"p17\"", with: "\"p18\"").write(
            toFile: answers, atomically: true, encoding: .utf8)
        let different = try Self.makeState(["--check", Self.program, folder])
        #expect(different.status == 1)
        #expect(different.errors.contains("answers differ"), "\(different.errors)")
        let again = try Self.makeState([Self.program, folder])
        #expect(again.errors.contains("a release writes its state once"), "\(again.errors)")
    }
}

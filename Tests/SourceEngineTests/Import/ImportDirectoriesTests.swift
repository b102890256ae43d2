// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import Responses
@testable import SourceEngine
@testable import SystemSupport

/// A directory to read from, one beside it, and what tempts out of the first.
private final class Files {
    let base: URL
    var inside: URL { base.appending(path: "inside") }
    var outside: URL { base.appending(path: "outside") }

    init() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "clusterd-\(UUID().uuidString)")
        base = path.resolvingSymlinksInPath()
        try FileManager.default.createDirectory(at: inside.appending(path: "deep"), withIntermediateDirectories: true)
        try FileManager.default.createDirectory(at: outside, withIntermediateDirectories: true)
        try Data("in".utf8).write(to: inside.appending(path: "deep/in.json"))
        try Data("out".utf8).write(to: outside.appending(path: "out.json"))
        try link("inside/away", to: "../outside")
        try link("inside/away.json", to: "../outside/out.json")
        try link("inside/nowhere.json", to: "../outside/missing.json")
        try link("inside/near.json", to: "deep/in.json")
        mkfifo(inside.appending(path: "pipe").path, 0o600)
    }

    deinit { try? FileManager.default.removeItem(at: base) }

    private func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: base.appending(path: name).path, withDestinationPath: target)
    }

    func open(_ path: String) throws(SourceError) -> FileDescriptor {
        try ImportDirectories([inside.path + "/"]).open(path)
    }
}

@Suite("Import directories") struct ImportDirectoriesTests {
    private let files: Files

    init() throws { files = try Files() }

    @Test("opens what lies below", arguments: ["deep/in.json", "./deep//in.json", "near.json"])
    func opensWhatLiesBelow(_ name: String) throws {
        for path in [name, files.inside.path + "/" + name] {
            let file = try files.open(path)
            var buffer = [UInt8](repeating: 0, count: 8)
            let count = read(file.number, &buffer, buffer.count)
            #expect(String(decoding: buffer.prefix(max(0, count)), as: UTF8.self) == "in")
        }
    }

    @Test(
        "refuses the rest",
        arguments: [
            "", ".", "deep", "pipe", "../outside/out.json", "deep/../deep/in.json", "away/out.json", "away.json",
            "nowhere.json", "away/missing.json", "../outside/missing.json",
        ])
    func refusesTheRest(_ name: String) {
        #expect(throws: SourceError.forbiddenFile(below: [files.inside.path])) { try files.open(name) }
        #expect(throws: SourceError.forbiddenFile(below: [files.inside.path])) {
            try files.open(files.inside.path + "/" + name)
        }
    }

    @Test("refuses alike what is elsewhere whether or not it exists")
    func refusesAlikeWhatIsElsewhereWhetherOrNotItExists() {
        for path in ["/etc/passwd", "/etc/missing", files.outside.path + "/out.json", files.inside.path] {
            #expect(throws: SourceError.forbiddenFile(below: [files.inside.path])) { try files.open(path) }
        }
        #expect(throws: SourceError.forbiddenFile(below: [files.inside.path])) {
            try files.open(files.inside.path + "x/in.json")
        }
    }

    @Test("refuses what one directory forbids and another lacks", arguments: ["away.json", "pipe", "deep"])
    func refusesWhatOneDirectoryForbidsAndAnotherLacks(_ name: String) throws {
        for paths in [[files.inside.path, files.outside.path], [files.outside.path, files.inside.path]] {
            #expect(throws: SourceError.forbiddenFile(below: paths)) { try ImportDirectories(paths).open(name) }
        }
    }

    @Test("names a file that is missing") func tellsWhatIsPlainlyMissing() {
        #expect(throws: SourceError.missingFile("deep/no.json")) { try files.open("deep/no.json") }
        #expect(throws: SourceError.missingFile("no/no.json")) { try files.open("no/no.json") }
    }

    @Test("without directories nothing may be read")
    func withoutDirectoriesNothingMayBeRead() {
        #expect(throws: SourceError.forbiddenFile(below: [])) {
            try ImportDirectories([]).open("/etc/passwd")
        }
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import SystemSupport

@Suite("Unnamed files") struct UnnamedFileTests {
    private final class Folder {
        let path = NSTemporaryDirectory() + "clusterd-unnamed-" + UUID().uuidString
        let descriptor: FileDescriptor

        init() throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            descriptor = try #require(FileSystem.openDirectories([], below: path))
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }

        func text(_ name: String) throws -> String {
            try String(contentsOfFile: path + "/" + name, encoding: .utf8)
        }
    }

    @Test("have no name until they are published") func publish() throws {
        let folder = try Folder()
        let file = try UnnamedFile(in: folder.descriptor, path: "a")
        try file.write(Array("hello world".utf8), at: 0)
        try file.write(Array("W".utf8), at: 6)
        try file.truncate(to: 9)
        #expect(try file.read(3, at: 6) == Array("Wor".utf8))
        try file.synchronize()
        try file.publish(as: "a", overwrite: false)
        #expect(folder.names == ["a"])
        #expect(try folder.text("a") == "hello Wor")
    }

    @Test("leave nothing behind without being published") func dropped() throws {
        let folder = try Folder()
        for _ in 0..<3 {
            let file = try UnnamedFile(in: folder.descriptor, path: "a")
            try file.write([1, 2, 3], at: 1 << 20)
        }
        #expect(folder.names.isEmpty)
    }

    @Test("replace a file only if they may, and never a directory") func overwrite() throws {
        let folder = try Folder()
        try FileManager.default.createDirectory(atPath: folder.path + "/d", withIntermediateDirectories: true)
        func publish(_ text: String, as name: String, overwrite: Bool) throws {
            let file = try UnnamedFile(in: folder.descriptor, path: name)
            try file.write(Array(text.utf8), at: 0)
            try file.publish(as: name, overwrite: overwrite)
        }
        try publish("one", as: "a", overwrite: false)
        let taken = #expect(throws: FileError.self) { try publish("two", as: "a", overwrite: false) }
        #expect(taken == .failed(action: "name", path: "a", code: EEXIST))
        try publish("three", as: "a", overwrite: true)
        #expect(try folder.text("a") == "three")
        let directory = #expect(throws: FileError.self) { try publish("four", as: "d", overwrite: true) }
        #expect(directory == .failed(action: "name", path: "d", code: EISDIR))
        #expect(folder.names.sorted() == ["a", "d"])
    }

    @Test("that end before what is read are an error") func short() throws {
        let folder = try Folder()
        let file = try UnnamedFile(in: folder.descriptor, path: "a")
        try file.write([1, 2, 3], at: 0)
        #expect(throws: FileError.self) { try file.read(2, at: 2) }
    }
}

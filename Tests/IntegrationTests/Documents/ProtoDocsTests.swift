// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

/// The examples of proto-docs, sent to the real daemon in the order in which they stand.
@Suite("Proto docs") struct ProtoDocsTests {
    /// A request of one or more messages, and the messages that the page shows as the answer: those of
    /// several calls come in any order.
    private struct Example {
        let messages: [JSONValue]
        let answers: [JSONValue]
    }

    /// Pages that build on each other share a daemon.
    @Test(
        "examples are answered as shown",
        arguments: [
            ["source-service.md", "cluster-service.md", "server-service.md"], ["errors.md"],
            ["expressions.md"],
        ])
    func examplesAreAnsweredAsShown(_ pages: [String]) throws {
        let daemon = try DaemonProcess()
        let client = try daemon.client()
        for page in pages {
            let examples = try Self.examples(page)
            #expect(!examples.isEmpty, "\(page) has examples")
            for example in examples {
                for message in example.messages { try client.send(message.text) }
                var answers = try example.answers.map { _ in JSONValue.object(try client.receive()) }
                for shown in example.answers {
                    let place = answers.firstIndex { $0["id"] == shown["id"] }
                    let answer = place.map { answers.remove(at: $0) } ?? .null
                    #expect(
                        Self.agrees(answer, shown),
                        "\(page): \(example.messages[0].text)\nwas answered \(answer.text)\nnot \(shown.text)")
                }
            }
        }
    }

    /// Each method has a section on its service's page, and an rpc. The section names all its params, unless the page's
    /// introduction does, or the section of a method that it refers to.
    @Test("every method has its section, which names its params") func everyMethodHasItsSection() throws {
        let daemon = try DaemonProcess()
        let proto = try Self.text("../proto/clusterd/v1/clusterd.proto")
        let readme = try Self.text("../README.md").components(separatedBy: "\n")
        let pages = try ["source-service.md", "cluster-service.md", "server-service.md"].map(Self.text)
        let sections = pages.reduce(into: [:]) { $0.merge(Self.sections(of: $1)) { first, _ in first } }
        for method in try #require(daemon.client().call("ServerService/GetServerInfo")["methods"]?.array) {
            let path = try #require(method["name"]?.string?.split(whereSeparator: { "./".contains($0) }))
            let (service, name) = (String(path[path.count - 2]), String(path[path.count - 1]))
            #expect(proto.contains("rpc \(name)("))
            let row = try #require(readme.first { $0.hasPrefix("| \(service) |") })
            #expect(row.split { !$0.isLetter }.contains { $0 == name }, "README lacks \(name)")
            guard let words = sections[name] else {
                Issue.record("no page has a section \(name)")
                continue
            }
            let known = words.reduce(into: words) { $0.formUnion(sections[$1] ?? []) }
            for param in method["params"]?.array ?? [] {
                #expect(known.contains(param.string ?? ""), "the section \(name) lacks \(param.text)")
            }
        }
    }

    /// By method, the words in code of its section, and of the page's introduction.
    private static func sections(of page: String) -> [String: Set<String>] {
        func words(_ text: String) -> Set<String> {
            let prose = text.components(separatedBy: "```").enumerated().filter { $0.offset % 2 == 0 }
            let code = prose.flatMap { $0.element.components(separatedBy: "`").enumerated() }
                .filter { $0.offset % 2 == 1 }
            return Set(
                code.flatMap { $0.element.components(separatedBy: CharacterSet.alphanumerics.inverted) })
        }
        let parts = page.components(separatedBy: "\n## ")
        var sections: [String: Set<String>] = [:]
        for part in parts.dropFirst() {
            let title = part.prefix { $0 != "\n" }
            for method in title.components(separatedBy: ", ") {
                sections[method] = words(parts[0]).union(words(part))
            }
        }
        return sections
    }

    /// Options that the message has under another name.
    private static let otherNames = ["projection": "planar"]

    @Test("every option of a source is a field of the message of options") func everyOptionIsAField() throws {
        let proto = try Self.text("../proto/clusterd/v1/clusterd.proto")
        let daemon = try DaemonProcess()
        let unknown = try daemon.client().failure(
            "SourceService/CreateSource", ["source": "a", "options": ["unknown": 1]])
        let list = try #require(unknown.message.components(separatedBy: "options are ").last)
        let options = list.dropLast().components(separatedBy: ", ")
        #expect(options.count > 15)
        let fields = Self.fields(of: "SourceOptions", in: proto)
        for option in options {
            let name = Self.otherNames[option] ?? Self.fieldName(option)
            #expect(fields.contains(name) || fields.contains(name + "_json"), "\(option)")
        }
    }

    /// The page of the configuration lists each method under the right that it needs.
    @Test("every method is listed under its right") func everyMethodIsListedUnderItsRight() throws {
        let daemon = try DaemonProcess()
        let page = try Self.text("configuration.md")
        for method in try #require(daemon.client().call("ServerService/GetServerInfo")["methods"]?.array) {
            let name = try #require(method["name"]?.string)
            guard let right = method["right"]?.string, right != "none", !name.contains("ClusterService")
            else { continue }
            let row = page.components(separatedBy: "\n").first { $0.hasPrefix("| `\(right)`") }
            let short = name.components(separatedBy: "/").last ?? name
            #expect(row?.contains("`\(short)`") == true, "\(short): \(right)")
        }
    }

    private static func fields(of message: String, in proto: String) -> [String] {
        let body = proto.components(separatedBy: "\nmessage \(message) {").dropFirst().first ?? ""
        return body.components(separatedBy: "\n}").first?.components(separatedBy: "\n").compactMap { line in
            line.components(separatedBy: " = ").first?.split(separator: " ").last.map(String.init)
        } ?? []
    }

    /// `maxZoom` as proto3 spells it.
    private static func fieldName(_ name: String) -> String {
        name.reduce(into: "") { text, letter in text += letter.isUppercase ? "_" + letter.lowercased() : String(letter)
        }
    }

    private static func text(_ page: String) throws -> String {
        let folder = Repository.root.appendingPathComponent("proto-docs")
        return try String(contentsOf: folder.appendingPathComponent(page), encoding: .utf8)
    }

    /// A page's examples: a block of requests followed by one with the answer.
    private static func examples(_ page: String) throws -> [Example] {
        var examples: [Example] = []
        let parts = try text(page).components(separatedBy: "```json request\n").dropFirst()
        for part in parts {
            let blocks = part.components(separatedBy: "\n```\n```json answer\n")
            let answer = try #require(blocks.count == 2 ? blocks[1].components(separatedBy: "\n```").first : nil)
            examples.append(Example(messages: try values(blocks[0]), answers: try values(answer)))
        }
        return examples
    }

    /// JSON texts that begin on lines of their own: one that does not end on its line ends with a closing
    /// brace that stands first on a line.
    private static func values(_ text: String) throws -> [JSONValue] {
        var values: [JSONValue] = []
        var held = ""
        for line in text.split(separator: "\n") {
            held += line + "\n"
            let isWhole = held == line + "\n" ? line.hasSuffix("}") && line.hasPrefix("{") : line == "}"
            guard isWhole else { continue }
            values.append(try JSONReader.parse(held))
            held = ""
        }
        #expect(held.isEmpty)
        return values
    }

    /// Whether an answer is as shown; "…" stands for anything, numbers agree to the last digits but one.
    private static func agrees(_ answer: JSONValue, _ shown: JSONValue) -> Bool {
        switch (answer, shown) {
        case (_, .string("…")): true
        case (.object(let answer), .object(let shown)):
            answer.count == shown.count
                && shown.members.allSatisfy { member in
                    answer[member.key].map { agrees($0, member.value) } ?? false
                }
        case (.array(let answer), .array(let shown)):
            answer.count == shown.count && zip(answer, shown).allSatisfy { agrees($0, $1) }
        case (.number(let answer), .number(let shown)):
            abs(answer - shown) <= 1e-12 * max(abs(answer), abs(shown))
        default: answer == shown
        }
    }
}

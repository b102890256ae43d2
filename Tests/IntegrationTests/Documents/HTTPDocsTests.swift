// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

/// The examples of proto-docs/http.md, sent to the real daemon in the order in which they stand.
@Suite("HTTP documents") struct HTTPDocsTests {
    private struct Example {
        let request: [String]
        let body: String?
        let answer: [String]
        let shown: String?
    }

    @Test("examples are answered as shown") func examplesAreAnsweredAsShown() throws {
        let examples = try Self.examples()
        #expect(examples.count >= 6)
        let daemon = try DaemonProcess(http: "\"right\":\"manage\"")
        let http = try daemon.http()
        for example in examples {
            let line = example.request[0].split(separator: " ").map(String.init)
            let body = example.body.map { Array(($0 + "\n").utf8) }
            let response = try http.exchange(line[0], line[1], Array(example.request.dropFirst()), body: body)
            #expect(String(response.status) == example.answer[0], "\(example.request[0]): \(response.text)")
            for field in example.answer.dropFirst() {
                let parts = field.split(separator: ":", maxSplits: 1).map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
                #expect(
                    parts[1] == "…" ? response[parts[0]] != nil : response[parts[0]] == parts[1], "\(field)")
            }
            guard let shown = example.shown else { continue }
            let answer = try JSONReader.parse(response.body)
            #expect(Self.agrees(answer, try JSONReader.parse(shown)), "\(example.request[0]): \(answer.text)")
        }
    }

    private static func examples() throws -> [Example] {
        let page = Repository.root.appendingPathComponent("proto-docs/http.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        return try text.components(separatedBy: "```http request\n").dropFirst().map { part in
            let blocks = part.components(separatedBy: "\n```\n```http answer\n")
            try #require(blocks.count == 2)
            let (request, answer) = (halves(blocks[0]), halves(blocks[1].components(separatedBy: "\n```")[0]))
            return Example(request: request.head, body: request.body, answer: answer.head, shown: answer.body)
        }
    }

    private static func halves(_ block: String) -> (head: [String], body: String?) {
        let parts = block.components(separatedBy: "\n\n")
        return (parts[0].components(separatedBy: "\n"), parts.count > 1 ? parts[1...].joined(separator: "\n\n") : nil)
    }

    /// Whether an answer is as shown; "…" stands for anything, as a member's name for further members.
    private static func agrees(_ answer: JSONValue, _ shown: JSONValue) -> Bool {
        switch (answer, shown) {
        case (_, .string("…")): true
        case (.object(let answer), .object(let shown)):
            (shown["…"] != nil || answer.count == shown.count)
                && shown.members.allSatisfy { member in
                    member.key == "…" || answer[member.key].map { agrees($0, member.value) } ?? false
                }
        case (.array(let answer), .array(let shown)):
            answer.count == shown.count && zip(answer, shown).allSatisfy { agrees($0, $1) }
        default: answer == shown
        }
    }
}

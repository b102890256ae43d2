// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@testable import CommandLineOptions

private let tool = Command(
    "tool", summary: "Use it", details: ["It's a \\ tool.", ".Dots begin this."],
    options: [
        Option("socket", short: "s", value: "PATH", kind: .file, help: "the daemon's [only] socket: this"),
        Option("level", value: "LEVEL", kind: .oneOf(["low", "high"]), help: "how much"),
    ], examples: [Example("tool show a", "shows a")],
    subcommands: [
        Command(
            "show", summary: "Show things",
            operands: [Operand("WHAT", kind: .oneOf(["apple", "apple:red", "apple:green", "banana"]), help: "which")],
            options: [.flag("all", short: "a", help: "everything"), Option("at", value: "N", help: "where")]),
        Command("secret", summary: "Not shown", isHidden: true),
    ])

@Suite("Generated text") struct GeneratedTextTests {
    /// Runs the bash script's function on a line and returns what it offers.
    private func complete(_ words: [String]) throws -> Set<String> {
        let script = """
            \(CompletionScript.text(for: tool, shell: .bash))
            COMP_WORDS=(\(words.map(singleQuoted).joined(separator: " ")))
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            compopt() { :; }
            _tool
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["--norc", "-c", script]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(process.waitForEnd() == 0)
        return Set(text.split(separator: "\n").map(String.init))
    }

    @Test("bash completes what fits") func bashOffersWhatFits() throws {
        #expect(try complete(["tool", ""]) == ["show"])
        #expect(try complete(["tool", "--le"]) == ["--level"])
        #expect(try complete(["tool", "--level", ""]) == ["low", "high"])
        #expect(try complete(["tool", "--level", "=", "h"]) == ["high"])
        #expect(try complete(["tool", "show", "b"]) == ["banana"])
        #expect(try complete(["tool", "show", "a"]) == ["apple", "apple:red", "apple:green"])
        // As bash takes words with colons apart.
        #expect(try complete(["tool", "show", "apple", ":"]) == ["red", "green"])
        #expect(try complete(["tool", "show", "apple", ":", "g"]) == ["green"])
        #expect(try complete(["tool", "--level", "low", "show", "--a"]) == ["--all", "--at"])
        #expect(try complete(["tool", "show", "--at", ""]) == [])
    }

    @Test("zsh and fish know every option and nothing hidden") func completionsListVisibleOptions() {
        for shell in [CompletionScript.Shell.zsh, .fish] {
            let text = CompletionScript.text(for: tool, shell: shell)
            for word in ["socket", "level", "all", "at", "show", "Show things", "apple apple:red apple:green banana"] {
                #expect(text.contains(word), "\(shell): \(word)")
            }
            #expect(!text.contains("secret"))
        }
        let zsh = CompletionScript.text(for: tool, shell: .zsh)
        #expect(zsh.contains(#"'--socket=[the daemon'\''s \[only\] socket\: this]:PATH:_files'"#))
        let fish = CompletionScript.text(for: tool, shell: .fish)
        #expect(fish.contains(#"complete -c tool -l socket -s s -r -F -d 'the daemon\'s [only] socket: this'"#))
    }

    @Test("the manual escapes troff's control characters") func escapesTroffInManual() {
        let page = ManualPage.text(
            for: tool, section: 1, version: "1.0", more: [ManualPage.Section("FILES", [("/a-b", "a file")])])
        #expect(page.hasPrefix(".TH TOOL 1 \"\" \"tool 1.0\"\n.SH NAME\ntool \\- use it\n"))
        #expect(page.contains("It's a \\e tool.\n"))
        #expect(page.contains("\\&.Dots begin this.\n"))
        #expect(page.contains(".TP\n\\fB\\-s, \\-\\-socket=PATH\\fR\n"))
        #expect(page.contains(".SS tool show [OPTION]... WHAT\nShow things.\n"))
        #expect(page.contains(".SH FILES\n.TP\n\\fB/a\\-b\\fR\na file\n"))
        #expect(!page.contains("Not shown"))
    }
}

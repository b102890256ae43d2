// SPDX-License-Identifier: MIT
import CommandLineOptions
import Testing

@testable import clusterctl

@Suite("Command table") struct CommandTableTests {
    /// The words of each clusterctl call in an example, as a shell would hand them over.
    private func calls(in example: Example) -> [[String]] {
        var calls: [[String]] = [[]]
        var (word, isQuoted, isWord) = ("", false, false)
        func finish() {
            if isWord { calls[calls.count - 1].append(word) }
            (word, isWord) = ("", false)
        }
        for character in example.commandLine {
            switch character {
            case "'":
                isQuoted.toggle()
                isWord = true
            case " " where !isQuoted: finish()
            case "|" where !isQuoted, "&" where !isQuoted, "(" where !isQuoted, ")" where !isQuoted:
                finish()
                calls.append([])
            default:
                word.append(character)
                isWord = true
            }
        }
        finish()
        return calls.filter { $0.first == "clusterctl" }.map { Array($0.dropFirst()) }
    }

    @Test("every command has an example that parses") func everyCommandHasAnExampleThatItsTableTakes() throws {
        for command in CommandTable.root.subcommands where !command.isHidden {
            #expect(!command.examples.isEmpty, "\(command.name) has no example")
            for example in command.examples {
                let calls = calls(in: example)
                #expect(calls.contains { $0.contains(command.name) }, "\(example.commandLine)")
                for call in calls {
                    guard case .run = try CommandTable.root.parse(call) else {
                        Issue.record("\(example.commandLine) does not run")
                        continue
                    }
                }
            }
        }
    }

    @Test("names and letters are unambiguous") func namesAndLettersAreUnambiguous() {
        let general = CommandTable.root.options
        for command in CommandTable.root.subcommands {
            let options = general + command.options
            #expect(Set(options.map(\.name)).count == options.count, "\(command.name)")
            let letters = options.compactMap(\.short)
            #expect(Set(letters).count == letters.count, "\(command.name)")
            #expect(!letters.contains("h"), "\(command.name)")
        }
    }

    @Test("every command's help names its options") func everyCommandsHelpNamesItsOptions() throws {
        for command in CommandTable.root.subcommands {
            guard case .help(let text) = try CommandTable.root.parse([command.name, "--help"]) else {
                Issue.record("\(command.name) --help shows no help")
                continue
            }
            #expect(text.hasPrefix("Usage: clusterctl \(command.name)"))
            for option in command.options { #expect(text.contains("--\(option.name)")) }
        }
    }
}

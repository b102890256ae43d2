// SPDX-License-Identifier: MIT
import Testing

@testable import CommandLineOptions

private let program = Command(
    "prog", summary: "Do things",
    options: [
        Option("socket", short: "s", value: "PATH", kind: .file, help: "the socket"),
        Option("source-map", value: "FILE", help: "a map"),
        Option("dir", value: "DIR", kind: .directory, isRepeatable: true, help: "a directory"),
        .flag("all", short: "a", help: "everything"), .flag("brief", short: "b", help: "little"),
        Option("level", value: "LEVEL", kind: .oneOf(["low", "high"]), help: "how much"),
        Option("zoom", short: "z", value: "ZOOM", kind: .integer(0...24), help: "the zoom"),
        Option("ratio", value: "R", kind: .number(0...1), help: "a ratio"),
    ])

private let tree = Command(
    "tool", summary: "Use it", options: [Option("socket", value: "PATH", help: "the socket")],
    subcommands: [
        Command(
            "clusters", summary: "List clusters",
            operands: [Operand("SOURCE", help: "which"), Operand("FILE", count: .any, help: "files")],
            options: [.flag("json", help: "as JSON")], examples: [Example("tool clusters a", "shows a")]),
        Command("hidden", summary: "Nothing", isHidden: true),
    ])

private func run(_ command: Command, _ arguments: String...) throws -> ParsedArguments {
    guard case .run(let parsed) = try command.parse(arguments) else {
        throw UsageError(commandPath: [], message: "nothing to run")
    }
    return parsed
}

private func complaint(_ command: Command, _ arguments: String...) -> String {
    do throws(UsageError) {
        return "no error: \(try command.parse(arguments))"
    } catch {
        return error.message
    }
}

@Suite("Command line parser") struct CommandLineParserTests {
    @Test(
        "every way to give a value",
        arguments: [
            ["--socket=/a b"], ["--socket", "/a b"], ["-s/a b"], ["-s", "/a b"], ["-abs/a b"], ["-abs", "/a b"],
            ["--sock=/a b"],
        ])
    func everyWayToGiveAValue(arguments: [String]) throws {
        guard case .run(let parsed) = try program.parse(arguments) else {
            Issue.record("nothing to run")
            return
        }
        #expect(parsed.string("socket") == "/a b")
    }

    @Test("short flags combine") func shortFlagsCombine() throws {
        let parsed = try run(program, "-ab")
        #expect(parsed.has("all"))
        #expect(parsed.has("brief"))
        #expect(!parsed.has("socket"))
    }

    @Test("the last value wins, and repeatable options keep all values") func lastValueWins() throws {
        let parsed = try run(program, "-z1", "-z", "2", "--dir=a", "--dir", "b")
        #expect(parsed.integer("zoom") == 2)
        #expect(parsed.strings("dir") == ["a", "b"])
    }

    @Test("a value may look like an option") func acceptsValueThatLooksLikeOption() throws {
        #expect(try run(program, "--source-map", "--all").string("source-map") == "--all")
        #expect(try run(program, "--source-map=").string("source-map") == "")
    }

    @Test("errors have the wording of GNU programs") func wordsErrorsLikeGNU() {
        #expect(complaint(program, "--nothing") == "unrecognized option '--nothing'")
        #expect(
            complaint(program, "--sockett=x") == "unrecognized option '--sockett'; did you mean '--socket'?")
        #expect(complaint(program, "-x") == "invalid option -- 'x'")
        #expect(complaint(program, "--socket") == "option '--socket' requires an argument")
        #expect(complaint(program, "-as") == "option requires an argument -- 's'")
        #expect(complaint(program, "--all=1") == "option '--all' doesn't allow an argument")
        #expect(
            complaint(program, "--so=1")
                == "option '--so' is ambiguous; possibilities: '--socket' '--source-map'")
        #expect(complaint(program, "x") == "extra operand 'x'")
        #expect(complaint(program, "--sokcet=x") == "unrecognized option '--sokcet'; did you mean '--socket'?")
        #expect(complaint(program, "--=x") == "unrecognized option '--'")
        #expect(complaint(tree) == "missing command")
        #expect(complaint(tree, "cluster") == "unknown command 'cluster'; did you mean 'clusters'?")
        #expect(complaint(tree, "clusters") == "missing operand SOURCE")
    }

    @Test("values are checked by kind") func valuesAreCheckedByKind() {
        #expect(
            complaint(program, "-z25") == "invalid argument '25' for '--zoom': a whole number from 0 to 24 is expected")
        #expect(
            complaint(program, "--ratio=nan")
                == "invalid argument 'nan' for '--ratio': a number from 0 to 1 is expected")
        #expect(complaint(program, "--level=mid") == "invalid argument 'mid' for '--level': expected one of low, high")
        #expect(complaint(program, "--dir=") == "invalid argument '' for '--dir': a path is expected")
    }

    @Test("the error points to the help") func errorNamesHelp() {
        let error = UsageError(commandPath: ["tool", "clusters"], message: "missing operand SOURCE")
        #expect(
            "\(error)" == """
                tool: missing operand SOURCE
                Try 'tool clusters --help' for more information.
                """)
    }

    @Test("what an argument contains cannot control a terminal") func errorIsPrintable() {
        let error = UsageError(
            commandPath: ["tool"],
            message: "unknown command '\u{1B}]0;title\u{07}\u{9B}31m\n\u{202E}Zoë\u{2066}'")
        #expect(
            "\(error)" == """
                tool: unknown command ' ]0;title  31m  Zoë '
                Try 'tool --help' for more information.
                """)
    }

    @Test("options of the program stand before and after the subcommand") func acceptsProgramOptionsAnywhere() throws {
        for arguments in [["--socket=x", "clusters", "a"], ["clusters", "a", "--socket=x"]] {
            guard case .run(let parsed) = try tree.parse(arguments) else {
                Issue.record("nothing to run")
                return
            }
            #expect(parsed.subcommand == "clusters")
            #expect(parsed.string("socket") == "x")
            #expect(parsed.operands == ["a"])
        }
    }

    @Test("\"--\" ends the options") func twoDashesEndTheOptions() throws {
        #expect(try run(tree, "clusters", "--", "--json", "-").operands == ["--json", "-"])
        #expect(try run(tree, "clusters", "-", "b", "c", "--json").operands == ["-", "b", "c"])
    }

    @Test("--help takes precedence over missing operands and shows the subcommand")
    func helpPrecedesMissingOperands() throws {
        guard case .help(let text) = try tree.parse(["clusters", "--help", "--nonsense"]) else {
            Issue.record("no help")
            return
        }
        #expect(text.hasPrefix("Usage: tool clusters [OPTION]... SOURCE [FILE]...\nList clusters.\n"))
        #expect(text.contains("      --json"))
        #expect(text.contains("Options of every command:"))
        #expect(text.contains("  tool clusters a\n      shows a\n"))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test("hidden commands run but are not listed") func hidesHiddenCommands() throws {
        #expect(try run(tree, "hidden").subcommand == "hidden")
        guard case .help(let text) = try tree.parse(["-h"]) else {
            Issue.record("no help")
            return
        }
        #expect(!text.contains("hidden"))
        #expect(text.contains("clusters"))
    }

    @Test("version belongs to the program only") func versionOnlyOfProgram() throws {
        #expect(try tree.parse(["--version"]) == .version)
        #expect(complaint(tree, "clusters", "--version") == "unrecognized option '--version'")
    }
}

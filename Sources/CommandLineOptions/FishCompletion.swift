// SPDX-License-Identifier: MIT

/// Writes completions for fish.
struct FishCompletion {
    let program: Command

    var text: String {
        let commands = program.visibleSubcommands
        var lines = ["# fish completion for \(program.name)", "complete -c \(program.name) -f"]
        lines += program.allOptions(isRoot: true).map { line($0, condition: nil) }
        lines += operandLines(program, condition: nil)
        for command in commands {
            lines.append(
                "complete -c \(program.name) -n __fish_use_subcommand -a \(command.name) -d \(quoted(command.summary))"
            )
            let condition = "__fish_seen_subcommand_from \(command.name)"
            lines += command.options.map { line($0, condition: condition) }
            lines += operandLines(command, condition: condition)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func line(_ option: Option, condition: String?) -> String {
        var line =
            "complete -c \(program.name)" + (condition.map { " -n '\($0)'" } ?? "") + " -l \(option.name)"
        if let short = option.short { line += " -s \(short)" }
        if option.valueName != nil { line += " -r" + values(option.kind) }
        return line + " -d \(quoted(option.help))"
    }

    private func operandLines(_ command: Command, condition: String?) -> [String] {
        command.operands.compactMap { operand in
            let values = values(operand.kind)
            guard !values.isEmpty else { return nil }
            return "complete -c \(program.name)" + (condition.map { " -n '\($0)'" } ?? "") + values
        }
    }

    private func values(_ kind: ValueKind) -> String {
        switch kind {
        case .text, .integer, .number: ""
        case .file: " -F"
        case .directory: " -a '(__fish_complete_directories)'"
        case .oneOf(let words): " -a '\(words.joined(separator: " "))'"
        case .dynamic(let word): " -a '(\(program.name) complete \(word) -- (commandline -opc) 2>/dev/null)'"
        }
    }

    /// fish knows only two escapes between single quotes.
    private func quoted(_ text: String) -> String {
        "'" + text.map { $0 == "'" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "'"
    }
}

// SPDX-License-Identifier: MIT

/// Writes completions for bash.
struct BashCompletion {
    let program: Command

    var text: String {
        let commands = program.visibleSubcommands
        let names = commands.map(\.name)
        var lines = [
            "# bash completion for \(program.name)",
            "\(program.identifier)() {",
            "    local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\" command=\"\" i",
            "    # bash takes '--name=value' apart at the sign.",
            "    if [[ $current == = ]]; then current=\"\"; ",
            "    elif [[ $previous == = ]]; then previous=\"${COMP_WORDS[COMP_CWORD-2]}\"; fi",
            "    COMPREPLY=()",
        ]
        if !names.isEmpty {
            lines += [
                "    for ((i = 1; i < COMP_CWORD; i++)); do",
                "        case \"${COMP_WORDS[i]}\" in \(names.joined(separator: "|"))) command=\"${COMP_WORDS[i]}\"; break ;; esac",
                "    done",
            ]
        }
        lines.append("    case \"$command:$previous\" in")
        lines += values(of: program.options, command: "*")
        for command in commands { lines += values(of: command.options, command: command.name) }
        lines += ["    esac", "    case \"$command\" in"]
        lines += branch("\"\"", program.allOptions(isRoot: true), operands: program.operands, words: names)
        for command in commands {
            lines += branch(
                command.name, command.allOptions(isRoot: false) + program.options, operands: command.operands,
                words: [])
        }
        lines += ["    esac", "}", "complete -F \(program.identifier) \(program.name)", ""]
        return lines.joined(separator: "\n")
    }

    /// The completions for an option's value.
    private func values(of options: [Option], command: String) -> [String] {
        options.filter { $0.valueName != nil }.map { option in
            let patterns =
                ["\(command):--\(option.name)"] + (option.short.map { ["\(command):-\($0)"] } ?? [])
            return "    \(patterns.joined(separator: "|"))) \(reply(for: option.kind)); return ;;"
        }
    }

    private func branch(_ pattern: String, _ options: [Option], operands: [Operand], words: [String])
        -> [String]
    {
        let names = options.map { "--\($0.name)" }.joined(separator: " ")
        var replies = operands.map(\.kind).reduce(into: [String]()) { found, kind in
            let reply = reply(for: kind)
            if reply != ":" && !found.contains(reply) { found.append(reply) }
        }
        if !words.isEmpty {
            replies = ["COMPREPLY+=($(compgen -W '\(words.joined(separator: " "))' -- \"$current\"))"]
        }
        return [
            "    \(pattern))",
            "        if [[ $current == -* ]]; then COMPREPLY=($(compgen -W '\(names)' -- \"$current\")); return; fi",
            "        \(replies.isEmpty ? ":" : replies.joined(separator: "; ")) ;;",
        ]
    }

    private func reply(for kind: ValueKind) -> String {
        switch kind {
        case .text, .integer, .number: ":"
        case .file: "compopt -o filenames; COMPREPLY+=($(compgen -f -- \"$current\"))"
        case .directory: "compopt -o filenames; COMPREPLY+=($(compgen -d -- \"$current\"))"
        case .oneOf(let words): "COMPREPLY+=($(compgen -W '\(words.joined(separator: " "))' -- \"$current\"))"
        case .dynamic(let word):
            "COMPREPLY+=($(compgen -W \"$(\(program.name) complete \(word) -- \"${COMP_WORDS[@]:1}\" 2>/dev/null)\" -- \"$current\")); [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace"
        }
    }
}

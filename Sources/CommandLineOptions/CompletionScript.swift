// SPDX-License-Identifier: MIT

/// Shell completion, generated from a command's table.
public enum CompletionScript {
    public enum Shell: String, Sendable, CaseIterable { case bash, zsh, fish }

    /// The script, to be sourced or installed where the shell looks for completions.
    ///
    /// Values of kind `.dynamic(word)` are fetched on demand by `PROGRAM complete word`, which prints one per line.
    public static func text(for program: Command, shell: Shell) -> String {
        switch shell {
        case .bash: BashCompletion(program: program).text
        case .zsh: ZshCompletion(program: program).text
        case .fish: FishCompletion(program: program).text
        }
    }
}

extension Command {
    var visibleSubcommands: [Command] { subcommands.filter { !$0.isHidden } }

    /// A name for shell functions.
    var identifier: String { "_" + name.map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined() }
}

/// Text between single quotes, for POSIX shells.
func singleQuoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }

/// Writes completions for bash.
struct BashCompletion {
    let program: Command

    var text: String {
        let commands = program.visibleSubcommands
        let names = commands.map(\.name)
        var lines = [
            "# bash completion for \(program.name)", "\(program.identifier)() {",
            "    local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\" command=\"\" begin=\"\" i",
            "    # bash takes '--name=value' apart at the sign.",
            "    if [[ $current == = ]]; then current=\"\"; ",
            "    elif [[ $previous == = ]]; then previous=\"${COMP_WORDS[COMP_CWORD-2]}\"; fi",
            "    # It takes a word apart at colons, and replaces only what follows the last one.",
            "    if [[ $current == : ]]; then begin=\"$previous:\" previous=\"\"; current=\"$begin\"",
            "    elif [[ $previous == : ]]; then begin=\"${COMP_WORDS[COMP_CWORD-2]}:\" previous=\"\"; current=\"$begin$current\"; fi",
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
        lines += [
            "    esac", "    COMPREPLY=(\"${COMPREPLY[@]#\"$begin\"}\")", "}",
            "complete -F \(program.identifier) \(program.name)", "",
        ]
        return lines.joined(separator: "\n")
    }

    /// The completions for an option's value.
    private func values(of options: [Option], command: String) -> [String] {
        options.filter { $0.valueName != nil }.map { option in
            let patterns = ["\(command):--\(option.name)"] + (option.short.map { ["\(command):-\($0)"] } ?? [])
            return "    \(patterns.joined(separator: "|"))) \(reply(for: option.kind)); return ;;"
        }
    }

    private func branch(_ pattern: String, _ options: [Option], operands: [Operand], words: [String]) -> [String] {
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
                "complete -c \(program.name) -n __fish_use_subcommand -a \(command.name) -d \(quoted(command.summary))")
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

/// Writes completions for zsh.
struct ZshCompletion {
    let program: Command

    var text: String {
        var lines = [
            "#compdef \(program.name)", "\(program.identifier)_words() {", "    local -a found",
            "    found=(${(f)\"$(\(program.name) complete $1 -- ${words[@]:1} 2>/dev/null)\"})",
            "    # A value follows 'NAME=' without a space.",
            "    compadd -S '' -- ${(M)found:#*=}",
            "    compadd -- ${found:#*=}",
            "}",
            "\(program.identifier)() {",
            "    local context state state_descr line",
        ]
        lines.append("    typeset -A opt_args")
        let commands = program.visibleSubcommands
        let positions = commands.isEmpty ? operands(program) : ["'1:command:->command'", "'*::operand:->operand'"]
        lines.append(arguments(program.allOptions(isRoot: true), positions, flags: "-C", indent: "    "))
        if !commands.isEmpty {
            lines += ["    case $state in", "    command)", "        local -a commands", "        commands=("]
            lines += commands.map { "            " + singleQuoted("\($0.name):\($0.summary)") }
            lines += [
                "        )", "        _describe command commands ;;", "    operand)",
                "        case $words[1] in",
            ]
            for command in commands {
                lines.append("        \(command.name))")
                lines.append(
                    arguments(
                        command.allOptions(isRoot: false) + program.options, operands(command), flags: "",
                        indent: "            ") + " ;;")
            }
            lines += ["        esac ;;", "    esac"]
        }
        lines += ["}", "\(program.identifier) \"$@\"", ""]
        return lines.joined(separator: "\n")
    }

    private func arguments(_ options: [Option], _ positions: [String], flags: String, indent: String) -> String {
        let head = indent + "_arguments" + (flags.isEmpty ? "" : " " + flags)
        return ([head] + options.flatMap(specifications) + positions).joined(separator: " \\\n\(indent)    ")
    }

    private func specifications(_ option: Option) -> [String] {
        let repeats = option.isRepeatable ? "*" : ""
        let help = "[" + escaped(option.help) + "]"
        let value = option.valueName.map { ":\($0):\(action(option.kind))" } ?? ""
        let long = singleQuoted("\(repeats)--\(option.name)\(value.isEmpty ? "" : "=")\(help)\(value)")
        guard let short = option.short else { return [long] }
        return [long, singleQuoted("\(repeats)-\(short)\(value.isEmpty ? "" : "+")\(help)\(value)")]
    }

    private func operands(_ command: Command) -> [String] {
        command.operands.enumerated().map { index, operand in
            let position = operand.count == .any ? "*" : operand.count == .optional ? "\(index + 1):" : "\(index + 1)"
            return singleQuoted("\(position):\(operand.name):\(action(operand.kind))")
        }
    }

    private func action(_ kind: ValueKind) -> String {
        switch kind {
        case .text, .integer, .number: ""
        case .file: "_files"
        case .directory: "_files -/"
        case .oneOf(let words): "(\(words.joined(separator: " ")))"
        case .dynamic(let word):
            // The space keeps zsh from adding options of its own.
            " \(program.identifier)_words \(word)"
        }
    }

    private func escaped(_ text: String) -> String {
        text.map { "[]:\\".contains($0) ? "\\\($0)" : String($0) }.joined()
    }
}

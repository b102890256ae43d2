// SPDX-License-Identifier: MIT

/// Writes completions for zsh.
struct ZshCompletion {
    let program: Command

    var text: String {
        var lines = [
            "#compdef \(program.name)",
            "\(program.identifier)_words() {",
            "    local -a found",
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
        let places =
            commands.isEmpty ? operands(program) : ["'1:command:->command'", "'*::operand:->operand'"]
        lines.append(arguments(program.allOptions(isRoot: true), places, flags: "-C", indent: "    "))
        if !commands.isEmpty {
            lines += [
                "    case $state in", "    command)", "        local -a commands", "        commands=(",
            ]
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

    private func arguments(_ options: [Option], _ places: [String], flags: String, indent: String) -> String {
        let head = indent + "_arguments" + (flags.isEmpty ? "" : " " + flags)
        return ([head] + options.flatMap(specifications) + places).joined(separator: " \\\n\(indent)    ")
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
            let position =
                operand.count == .any ? "*" : operand.count == .optional ? "\(index + 1):" : "\(index + 1)"
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

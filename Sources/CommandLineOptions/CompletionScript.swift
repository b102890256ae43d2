// SPDX-License-Identifier: MIT

/// Shell completion, generated from a command's table.
public enum CompletionScript {
    public enum Shell: String, Sendable, CaseIterable { case bash, zsh, fish }

    /// The script, to be sourced or installed where the shell looks for completions.
    ///
    /// Values of kind `.dynamic(word)` are fetched on demand by `PROGRAM complete word`, which prints one per
    /// line.
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
func singleQuoted(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
}

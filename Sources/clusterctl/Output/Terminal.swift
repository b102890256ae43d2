// SPDX-License-Identifier: MIT
import CommandLineOptions
import Glibc
import Rendering

/// Standard output and standard error: whether they are terminals, their width, and writing to them.
enum Terminal {
    static let outputIsTerminal = isatty(STDOUT_FILENO) == 1
    static let errorIsTerminal = isatty(STDERR_FILENO) == 1

    /// Colour if it is a terminal, unless NO_COLOR is set or the terminal is dumb.
    static let outputStyle = Style(isEnabled: outputIsTerminal && takesColour)
    static let errorStyle = Style(isEnabled: errorIsTerminal && takesColour)

    private static var takesColour: Bool {
        (environment("NO_COLOR") ?? "").isEmpty && environment("TERM") != "dumb"
    }

    /// The colours that standard output's terminal can show.
    static var palette: TerminalPalette {
        guard outputStyle.isEnabled else { return .none }
        let colours = environment("COLORTERM") ?? ""
        return colours == "truecolor" || colours == "24bit" ? .full : .indexed
    }

    static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// The columns of standard output's terminal; nil if it is not a terminal.
    static var outputWidth: Int? { outputIsTerminal ? width(of: STDOUT_FILENO) : nil }
    static var errorWidth: Int { width(of: STDERR_FILENO) ?? 80 }

    private static func width(of descriptor: Int32) -> Int? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Writes to standard output, data included: if it is a terminal, characters that would control it are
    /// escaped. If the reader has closed the pipe (`| head`), the program ends quietly.
    static func write(_ text: String) { writeStyled(outputIsTerminal ? PrintableText.escaped(text) : text) }

    /// - Parameter bytes: no cut characters, or nothing that is meant for a terminal.
    static func write(_ bytes: [UInt8]) {
        if outputIsTerminal { return write(String(decoding: bytes, as: UTF8.self)) }
        writeAll(bytes, to: STDOUT_FILENO)
    }

    /// Writes text that contains styles to standard output. Data in it must be printable already (`PrintableText.of`).
    static func writeStyled(_ text: String) { writeAll(Array(text.utf8), to: STDOUT_FILENO) }

    static func writeError(_ text: String) { writeAll(Array(text.utf8), to: STDERR_FILENO) }

    /// A closed pipe is not an error. Any other failed write is.
    private static func end(_ number: Int32, _ descriptor: Int32) -> Never {
        if number == EPIPE { exit(0) }
        if descriptor != STDERR_FILENO {
            writeError("clusterctl: cannot write to standard output: \(String(cString: strerror(number)))\n")
        }
        exit(ExitStatus.failed)
    }

    /// Writes all bytes; ends the program if that is impossible.
    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) {
        let number = Launch.write(bytes, to: descriptor)
        if number != 0 { end(number, descriptor) }
    }
}

/// Bold and colour if the output supports them, plain text otherwise.
struct Style: Sendable {
    let isEnabled: Bool

    static let plain = Style(isEnabled: false)

    func bold(_ text: String) -> String { wrap(text, "1") }
    func dim(_ text: String) -> String { wrap(text, "2") }
    func red(_ text: String) -> String { wrap(text, "31") }
    func green(_ text: String) -> String { wrap(text, "32") }

    private func wrap(_ text: String, _ code: String) -> String {
        isEnabled && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

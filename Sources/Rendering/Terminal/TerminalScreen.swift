// SPDX-License-Identifier: MIT
import Dispatch
import Glibc
import Synchronization

/// Switches the terminal to a screen of its own, with keys unbuffered and not echoed, and restores its
/// content afterwards.
public enum TerminalScreen {
    /// The terminal's former settings; nil if there is nothing to restore.
    private static let former = Mutex<termios?>(nil)

    /// Takes over the screen. `leave` restores it, and so does the program's end however it exits.
    public static func enter() throws(TerminalError) {
        var attributes = termios()
        guard tcgetattr(STDIN_FILENO, &attributes) == 0 else {
            throw TerminalError()
        }
        let taken = attributes
        let isFirst = former.withLock { former in
            defer { former = taken }
            return former == nil
        }
        if isFirst { atexit { TerminalScreen.leave() } }
        cfmakeraw(&attributes)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &attributes)
        // The alternate screen, without a cursor.
        put("\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J")
    }

    /// Restores the terminal; does nothing the second time.
    public static func leave() {
        let attributes = former.withLock { former in
            defer { former = nil }
            return former
        }
        guard var attributes else { return }
        put("\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l")
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &attributes)
    }

    /// Draws the screen's lines over the existing ones.
    static func draw(_ lines: [String]) {
        put("\u{1B}[H" + lines.joined(separator: "\r\n"))
    }

    static var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 1 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Writes as much as possible. It never ends the program, because it is called at the program's end.
    private static func put(_ text: String) {
        var rest = Array(text.utf8)
        while !rest.isEmpty {
            let written = write(STDOUT_FILENO, rest, rest.count)
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { return }
            rest.removeFirst(written)
        }
    }
}

/// Keys, signals and timer ticks as one stream of events, in the order of their arrival.
final class TerminalEvents {
    let stream: AsyncStream<MapEvent>
    let continuation: AsyncStream<MapEvent>.Continuation
    private var sources: [any DispatchSourceProtocol] = []
    private let queue = DispatchQueue(label: "terminal")

    /// - Parameter interval: the interval between ticks.
    init(interval: DispatchTimeInterval) {
        (stream, continuation) = AsyncStream.makeStream(of: MapEvent.self)
        let continuation = continuation
        let input = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: queue)
        input.setEventHandler {
            var bytes = [UInt8](repeating: 0, count: 256)
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            if count > 0 {
                continuation.yield(.input(Array(bytes.prefix(count))))
            } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
                continuation.yield(.ended)
            }
        }
        sources.append(input)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] { watch(number, .ended) }
        watch(SIGWINCH, .resized)
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + interval, repeating: interval)
        timer.setEventHandler { continuation.yield(.tick) }
        sources.append(timer)
        for source in sources { source.activate() }
    }

    private func watch(_ number: Int32, _ event: MapEvent) {
        // The dispatch source sees the signal even if its default action is disabled.
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        let continuation = continuation
        source.setEventHandler { continuation.yield(event) }
        sources.append(source)
    }

    func stop() {
        for source in sources { source.cancel() }
        continuation.finish()
    }
}

/// Standard input or output is not a terminal.
public struct TerminalError: Error, CustomStringConvertible {
    public var description: String { "map needs a terminal; 'render' draws into a file" }
}

// SPDX-License-Identifier: MIT
import Dispatch
import Glibc

/// What happens when the user ends the program by Ctrl-C, or the system by a signal.
final class Interruption {
    private var sources: [any DispatchSourceProtocol] = []

    /// Runs `body` on the first of the signals that end programs. It stays so until the program ends.
    init(_ body: @escaping @Sendable () -> Void) {
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler(handler: body)
            source.activate()
            sources.append(source)
        }
    }
}

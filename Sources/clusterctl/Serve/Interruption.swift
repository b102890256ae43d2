// SPDX-License-Identifier: MIT
import Dispatch
import Glibc

/// Handles Ctrl-C and the signals that end programs.
final class Interruption {
    private var sources: [any DispatchSourceProtocol] = []

    /// Runs `body` on the first of these signals. Never undone.
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

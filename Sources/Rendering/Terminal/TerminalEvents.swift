// SPDX-License-Identifier: MIT
import Dispatch
import Glibc

/// Keys, signals and time as one stream of events, in the order in which they come.
final class TerminalEvents {
    let stream: AsyncStream<MapEvent>
    let continuation: AsyncStream<MapEvent>.Continuation
    private var sources: [any DispatchSourceProtocol] = []
    private let queue = DispatchQueue(label: "terminal")

    /// - Parameter interval: of the ticks.
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
        // The source sees the signal also where its usual action is taken away.
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

// SPDX-License-Identifier: MIT
import Dispatch
import Glibc

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

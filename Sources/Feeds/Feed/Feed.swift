// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import Dispatch
import JSON
import Synchronization

/// Carries the messages of a broker into a source until it is stopped, through failures of either end.
package final class Feed: Sendable {
    private let settings: FeedSettings
    private let broker: any Broker
    private let rejects: RejectLog
    private let metrics = FeedMetrics()
    private let messages = UnappliedMessages()
    private let report: @Sendable (String) -> Void
    /// The one thread that calls the broker.
    private let thread = DispatchQueue(label: "clusterd-feed.broker")
    private let stopping = Atomic<Bool>(false)
    /// Whether the broker gives the messages that follow those that were received.
    private let receiving = Atomic<Bool>(false)
    private let lost = Mutex<Set<FeedMetrics.End>>([])

    /// - Parameter report: takes a line for the operator.
    package init(_ settings: FeedSettings, report: @escaping @Sendable (String) -> Void) throws(FeedSettings.Problem) {
        self.settings = settings
        self.report = report
        broker = try settings.broker()
        rejects = try RejectLog(settings.rejects, metrics, report: report)
        metrics.measureLag { [messages] in messages.lag }
        if let address = settings.metrics { try MetricsServer(address, metrics).run() }
    }

    /// Makes `run` return soon.
    package func stop() { stopping.store(true, ordering: .releasing) }

    private var isStopping: Bool { stopping.load(ordering: .acquiring) }

    /// Why a feed cannot go on.
    package struct Failure: Error {
        package let message: String
    }

    private enum Loss: Error {
        case broker(String)
        case daemon(String)
        /// A feature was left out; the rest is sent again at once.
        case rejected
    }

    /// Runs until the feed is stopped, or its messages have come to an end and are applied.
    package func run() async throws(Failure) {
        var backoffs: [FeedMetrics.End: Backoff] = [.daemon: Backoff(), .broker: Backoff()]
        var isDone = false
        while !isStopping, !isDone {
            switch await outcome() {
            case .success: isDone = true
            case .failure(let loss as Loss):
                switch loss {
                case .rejected: break
                case .broker(let message):
                    receiving.store(false, ordering: .relaxed)
                    if isFound(.broker) { backoffs[.broker] = Backoff() }
                    lose(.broker, message)
                    await pause(backoffs[.broker, default: Backoff()].next())
                case .daemon(let message):
                    if isFound(.daemon) { backoffs[.daemon] = Backoff() }
                    lose(.daemon, message)
                    await pause(backoffs[.daemon, default: Backoff()].next())
                }
            case .failure(let error):
                await onThread { [broker] in broker.stop() }
                throw (error as? Failure) ?? Failure(message: "\(error)")
            }
        }
        await onThread { [broker] in broker.stop() }
    }

    private func outcome() async -> Result<Void, any Error> {
        do { return .success(try await attempt()) } catch { return .failure(error) }
    }

    /// Connects to both ends and carries messages until everything is applied and nothing more will come.
    private func attempt() async throws {
        let (client, stream, position) = try await connect()
        defer { client.close() }
        found(.daemon)
        let isReceiving = receiving.load(ordering: .relaxed)
        var unapplied = isReceiving ? messages.begin(after: position, hasPositions: broker.hasPositions) : nil
        if unapplied == nil {
            messages.removeAll(after: position)
            try await start(after: position)
            receiving.store(true, ordering: .relaxed)
            unapplied = messages.begin(after: position, hasPositions: broker.hasPositions)
        }
        found(.broker)
        try await pump(stream, sendingFirst: unapplied ?? [])
    }

    private func start(after position: String?) async throws {
        let (broker, resets) = (broker, settings.resetsToEarliest)
        let outcome = await onThread {
            Result { () throws(BrokerError) in try broker.start(after: position, resetsToEarliest: resets) }
        }
        switch outcome {
        case .success: return
        case .failure(.unavailable(let message)): throw Loss.broker(message)
        case .failure(let error): throw Failure(message: error.message)
        }
    }

    private func connect() async throws -> (Client, BothWaysCall, position: String?) {
        do {
            let client = try await Client.connect(socketPath: settings.socket)
            let stream = try client.openBothWays(
                "SourceService/ApplyChanges", ["source": .string(settings.source), "log": .string(broker.log)])
            var answers = stream.makeAsyncIterator()
            guard let first = try await answers.next() else { throw Loss.daemon("the daemon has ended the stream") }
            return (client, stream, Self.position(first))
        } catch let error as RPCError {
            throw Self.failure(of: error)
        }
    }

    private static func position(_ answer: Answer) -> String? {
        guard case .object(let object)? = try? answer.value(), case .string(let position)? = object["position"] else {
            return nil
        }
        return position
    }

    /// What an error of the daemon means: most pass.
    private static func failure(of error: RPCError) -> any Error {
        switch error.code {
        case .notFound, .permissionDenied, .failedPrecondition, .invalidArgument, .unimplemented, .aborted:
            Failure(message: error.message)
        default: Loss.daemon(error.message)
        }
    }

    // MARK: A stream

    private func pump(_ stream: BothWaysCall, sendingFirst unapplied: [UnappliedMessages.Entry]) async throws {
        let sender = Task { try await self.send(unapplied, to: stream) }
        do {
            for try await answer in stream {
                guard let position = Self.position(answer) else { continue }
                messages.confirm(position)
            }
        } catch {
            sender.cancel()
            stream.cancel()
            throw await self.error(error, of: sender)
        }
        // The client's end came before the server's.
        try await sender.value
        guard messages.isEmpty else { return }
        let broker = broker
        _ = await onThread { Result { () throws(BrokerError) in try broker.appliedAll() } }
    }

    /// Why a stream has failed: by the sender, else as the daemon says.
    private func error(_ error: any Error, of sender: Task<Void, any Error>) async -> any Error {
        if case .failure(let own) = await sender.result, own is Loss || own is Failure { return own }
        guard let error = error as? RPCError else { return Loss.daemon("the call was cancelled") }
        if error.code == .invalidArgument, reject(error) { return Loss.rejected }
        return Self.failure(of: error)
    }

    private func send(_ unapplied: [UnappliedMessages.Entry], to stream: BothWaysCall) async throws {
        for entry in unapplied { try await stream.send(entry.changes.item(position: entry.message.position)) }
        while !isStopping {
            try Task.checkCancellation()
            guard !messages.isFull, broker.hasPositions || messages.isEmpty else {
                await pause(.milliseconds(2))
                continue
            }
            guard let received = try await receive(stream) else { break }
            metrics.count(messages: received.count)
            // Kept before any is sent: a stream that fails must lose none.
            let entries = received.map { messages.append($0, map($0)) }
            for entry in entries { try await stream.send(entry.changes.item(position: entry.message.position)) }
        }
        stream.endSending()
    }

    private func receive(_ stream: BothWaysCall) async throws -> [BrokerMessage]? {
        let (broker, isApplied) = (broker, messages.isEmpty)
        let outcome = await onThread {
            Result { () throws(BrokerError) -> [BrokerMessage]? in
                if isApplied { try broker.appliedAll() }
                return try broker.receive()
            }
        }
        switch outcome {
        case .success(let messages): return messages
        case .failure(let error):
            // Reading of the daemon's answers ends with it.
            stream.cancel()
            guard case .unavailable(let message) = error else { throw Failure(message: error.message) }
            throw Loss.broker(message)
        }
    }

    private func map(_ message: BrokerMessage) -> MappedMessage {
        do throws(RejectReason) { return try settings.mapping.map(message) } catch {
            rejects.add(message, error)
            return MappedMessage()
        }
    }

    /// Leaves a feature out that the daemon has named.
    private func reject(_ error: RPCError) -> Bool {
        guard case .string(let param)? = error.details?["param"],
            let match = param.firstMatch(of: /^item\[(\d+)\](?:\.upsert\[(\d+)\])?/), let item = Int(match.1),
            let message = messages.reject(item: item, feature: match.2.flatMap { Int($0) })
        else { return false }
        rejects.add(message, .invalidFeature, error.message)
        return true
    }

    // MARK: Reports

    private func lose(_ end: FeedMetrics.End, _ message: String) {
        metrics.set(end, isConnected: false)
        guard lost.withLock({ $0.insert(end).inserted }) else { return }
        report("the \(end.rawValue) can't be reached, which is tried again: \(message)")
    }

    private func found(_ end: FeedMetrics.End) {
        metrics.set(end, isConnected: true)
        guard lost.withLock({ $0.remove(end) }) != nil else { return }
        report("the \(end.rawValue) is back")
    }

    private func isFound(_ end: FeedMetrics.End) -> Bool { lost.withLock { !$0.contains(end) } }

    // MARK: Waiting

    /// Waits, but not once the feed is stopped.
    private func pause(_ duration: Duration) async {
        let end = ContinuousClock.now + duration
        while !isStopping, ContinuousClock.now < end, !Task.isCancelled {
            try? await Task.sleep(for: min(.milliseconds(50), end - .now))
        }
    }

    private func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            thread.async { continuation.resume(returning: body()) }
        }
    }
}

extension Feed {
    /// How long a check waits for messages, in seconds.
    private static let patience = 3

    /// Connects to both ends and shows how a few messages map. Changes nothing.
    ///
    /// - Parameter print: takes the lines of the result.
    package func check(_ print: @escaping @Sendable (String) -> Void) async throws(Failure) {
        do {
            let client = try await Client.connect(socketPath: settings.socket)
            defer { client.close() }
            _ = try await client.call(
                "SourceService/GetSource", ["source": .string(settings.source)],
                options: CallOptions(timeout: .seconds(10)))
            print("The daemon at \(client.socketPath) has the source \(settings.source).")
        } catch let error as RPCError {
            throw Failure(message: error.message)
        } catch { throw Failure(message: "\(error)") }
        let broker = broker
        let outcome = await onThread {
            Result { () throws(BrokerError) in try broker.peek(seconds: Self.patience) }
        }
        let found: [BrokerMessage]
        switch outcome {
        case .success(let messages): found = messages
        case .failure(let error): throw Failure(message: error.message)
        }
        print("The broker answers" + (found.isEmpty ? "; there are no messages yet." : "."))
        for message in found {
            print("\(message.position)\(message.key.map { " \($0)" } ?? ""): \(shown(message))")
        }
    }

    private func shown(_ message: BrokerMessage) -> String {
        do throws(RejectReason) {
            return String(decoding: try settings.mapping.map(message).item(position: message.position), as: UTF8.self)
        } catch {
            return "left out: \(error.rawValue)"
        }
    }
}

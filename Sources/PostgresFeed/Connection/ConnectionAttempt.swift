// SPDX-License-Identifier: MIT
import EventLoop

/// Makes a connection. The steps run on the pool, because they may look up names and read files; the loop
/// does the waiting.
final class ConnectionAttempt {
    private let loop: EventLoop
    private let connection: String
    private let isReplication: Bool
    private var handle: ConnectionHandle?
    private var watcher: DescriptorWatcher?
    private var deadline: Timer?
    private var then: ((Result<PostgresConnection, PostgresError>) -> Void)?

    /// How long a server may take to accept a connection, in milliseconds.
    static let timeout: UInt64 = 15_000

    /// Begins at once. `then` is called once, unless the attempt is cancelled.
    init(
        on loop: EventLoop, _ connection: String, isReplication: Bool = true,
        then: @escaping (Result<PostgresConnection, PostgresError>) -> Void
    ) {
        (self.loop, self.connection, self.isReplication, self.then) = (loop, connection, isReplication, then)
        deadline = Timer(on: loop, delay: Self.timeout) { [weak self] in
            self?.finish(
                .failure(PostgresError("the server did not accept a connection within \(Self.timeout / 1000) s")))
        }
        start()
    }

    /// Gives up; `then` is not called.
    func cancel() { (watcher, deadline, then) = (nil, nil, nil) }

    private func start() {
        let (connection, isReplication) = (connection, isReplication)
        run {
            do throws(PostgresError) {
                let handle = try ConnectionHandle(connection, isReplication: isReplication)
                // As libpq's documentation requires: begin as if the last step had asked for writing.
                return (handle, handle.descriptor < 0 ? .failed(handle.connectionError) : .writing)
            } catch {
                return (nil, .failed(error))
            }
        }
    }

    private func next() {
        guard let handle, then != nil else { return }
        watcher = nil
        run { (handle, handle.connect()) }
    }

    private func run(_ step: @escaping @Sendable () -> (ConnectionHandle?, ConnectionHandle.Progress)) {
        loop.compute(step) { [self] found, progress in
            guard then != nil else { return }
            handle = found
            react(to: progress)
        }
    }

    private func react(to progress: ConnectionHandle.Progress) {
        switch progress {
        case .reading: wait(for: .readable)
        case .writing: wait(for: .writable)
        case .failed(let error): finish(.failure(error))
        case .connected:
            guard let handle else { return }
            do throws(PostgresError) { finish(.success(try PostgresConnection(on: loop, handle))) } catch {
                finish(.failure(error))
            }
        }
    }

    private func wait(for readiness: DescriptorWatcher.Readiness) {
        guard let handle else { return }
        do throws(EventLoopError) {
            watcher = try DescriptorWatcher(on: loop, descriptor: handle.descriptor) { [weak self] _ in self?.next() }
            watcher?.watch(for: readiness)
        } catch {
            finish(.failure(PostgresError("\(error)")))
        }
    }

    private func finish(_ result: Result<PostgresConnection, PostgresError>) {
        let done = then
        cancel()
        handle = nil
        done?(result)
    }
}

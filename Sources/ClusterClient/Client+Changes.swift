// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

extension Client {
    /// Applies a log's changes to a source exactly once. If the daemon cannot be reached, it connects again after 0.1 to
    /// 30 seconds and continues where the source is. Returns once the changes have ended and are applied.
    ///
    /// - Parameters:
    ///   - log: a name for the log, 1 to 64 characters.
    ///   - socketPath: as for `connect`.
    ///   - skipsInvalid: whether invalid features are left out. Otherwise they end the call with `INVALID_ARGUMENT`.
    ///   - changes: the log's items after a position, from its beginning if that is nil: objects with `position`,
    ///     `upsert` and `remove`.
    ///   - applied: called with each answer: `position`, `revision`, `inserted`, `updated`, `removed`, `missing` and
    ///     `skipped`.
    public static func applyChanges<Changes: AsyncSequence & Sendable>(
        of log: String, to source: String, socketPath: String? = nil, skipsInvalid: Bool = false,
        changes: @escaping @Sendable (_ position: String?) async throws -> Changes,
        applied: (JSONObject) -> Void = { _ in }
    ) async throws where Changes.Element == JSONObject {
        var pause = Duration.milliseconds(100)
        while true {
            do {
                let client = try await connect(socketPath: socketPath)
                defer { client.close() }
                let call = try client.openBothWays(
                    "SourceService/ApplyChanges",
                    [
                        "source": .string(source), "log": .string(log),
                        "onInvalid": .string(skipsInvalid ? "skip" : "reject"),
                    ])
                var answers = call.makeAsyncIterator()
                let first = try await answers.next()?.value().asObject
                pause = .milliseconds(100)
                let position = first?["position"]?.asString
                let sender = Task {
                    do {
                        for try await change in try await changes(position) { try await call.send(change) }
                        call.endSending()
                    } catch {
                        call.cancel()
                        throw error
                    }
                }
                do {
                    while let answer = try await answers.next() { applied(try answer.value().asObject ?? [:]) }
                } catch {
                    sender.cancel()
                    // An error of the changes themselves has cancelled the call.
                    if case .failure(let own) = await sender.result, !(own is RPCError), !(own is CancellationError) {
                        throw own
                    }
                    throw error
                }
                return try await sender.value
            } catch let error as RPCError where error.code == .unavailable {
                try await Task.sleep(for: pause)
                pause = min(.seconds(30), pause * 2)
            }
        }
    }
}

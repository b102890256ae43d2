// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import Foundation
import JSON

/// Takes the steps of the conformance cases by `ClusterClient`.
struct SwiftConformanceRunner {
    let cases: String
    let daemon: String
    let servers: String

    func run() async throws -> [ConformanceResult] {
        let cases = try JSONReader.parse(String(contentsOfFile: self.cases, encoding: .utf8))
        var results: [ConformanceResult] = []
        for example in ["daemon", "servers"].flatMap({ cases[$0]?.asArray ?? [] }) {
            let name = example["name"]?.asString ?? ""
            let socket = example["server"] == nil ? daemon : "\(servers)/\(name).sock"
            do {
                var session = Session(client: try await Client.connect(socketPath: socket))
                for step in example["steps"]?.asArray ?? [] { try await session.take(step) }
                results.append(ConformanceResult(.passed, name))
            } catch {
                results.append(ConformanceResult(.failed, name, "\(error)"))
            }
        }
        return results
    }

    /// Opens an import at a case's server and sends items, whatever becomes of them.
    func sendItems(to name: String, count: Int) async throws {
        let client = try await Client.connect(socketPath: "\(servers)/\(name).sock")
        let stream = try client.openClientStream("SourceService/ImportFeatures", ["source": .string("s")])
        do {
            for _ in 0..<count { try await stream.send(["features": .array([])]) }
            _ = try await stream.finish()
        } catch is RPCError {}
    }

    private struct Mismatch: Error {
        let text: String
    }

    /// One case's connection and its open call.
    private struct Session {
        let client: Client
        var stream: BothWaysCall?
        var items: ServerStreamCall.Iterator?

        mutating func take(_ step: JSONValue) async throws {
            if step["call"] != nil {
                try await take(call: step)
            } else if let calls = step["together"]?.asArray {
                let client = client
                try await withThrowingTaskGroup { group in
                    for call in calls { group.addTask { try await Session(client: client).take(call: call) } }
                    try await group.waitForAll()
                }
            } else if let opening = step["open"] {
                stream = try client.openBothWays(method(opening), params(opening), options: options(opening))
                items = stream?.makeAsyncIterator()
            } else if let item = step["send"]?.asObject {
                try await stream?.send(item)
            } else if step["end"] != nil {
                stream?.endSending()
            } else if step["cancel"] != nil {
                stream?.cancel()
            } else {
                try await takeNext(step)
            }
        }

        private func take(call step: JSONValue) async throws {
            do {
                let answer = try await answer(step["call"] ?? .null).value()
                try require(answer, step["result"] ?? "an error")
            } catch let error where !(error is Mismatch) {
                try require(error, step["error"])
            }
        }

        private func answer(_ call: JSONValue) async throws -> Answer {
            guard let items = call["items"]?.asArray else {
                return try await client.call(method(call), params(call), options: options(call))
            }
            let stream = try client.openClientStream(method(call), params(call), options: options(call))
            for item in items { try await stream.send(item.asObject ?? [:]) }
            return try await stream.finish()
        }

        private mutating func takeNext(_ step: JSONValue) async throws {
            do {
                let item = try await items?.next()
                if let pattern = step["item"], let item {
                    try require(item.value(), pattern)
                } else if step["finished"] == nil || item != nil {
                    throw Mismatch(text: "the stream gave \(item?.text ?? "its end")")
                }
            } catch let error where !(error is Mismatch) {
                try require(error, step["failed"])
            }
        }

        private func method(_ call: JSONValue) -> String { call["method"]?.asString ?? "" }

        private func params(_ call: JSONValue) -> CallParams { CallParams(call["params"]?.asObject ?? [:]) }

        private func options(_ call: JSONValue) -> CallOptions {
            CallOptions(timeout: call["timeoutMs"]?.asInteger.map { .milliseconds($0) })
        }

        private func require(_ error: any Error, _ pattern: JSONValue?) throws {
            let failure = error as? RPCError ?? RPCError(.cancelled, "\(error)")
            guard var pattern = pattern?.asObject, error is RPCError || error is CancellationError else {
                throw error
            }
            let part = pattern["message"]?.asString ?? ""
            pattern["message"] = nil
            var shown: JSONObject = ["status": .string(failure.code.name)]
            shown["details"] = failure.details.map { .object($0) }
            try require(.object(shown), .object(pattern))
            guard failure.message.contains(part) || part.isEmpty else {
                throw Mismatch(text: "the message is \(failure.message)")
            }
        }

        private func require(_ value: JSONValue, _ pattern: JSONValue) throws {
            guard Self.agrees(value, pattern) else {
                throw Mismatch(text: "\(value.text.prefix(400)) is not \(pattern.text)")
            }
        }

        private static func agrees(_ value: JSONValue, _ pattern: JSONValue) -> Bool {
            switch (value, pattern) {
            case (_, .string("…")): true
            case (.object(let value), .object(let pattern)):
                pattern.members.allSatisfy { key, part in value[key].map { agrees($0, part) } ?? false }
            case (.array(let values), .array(let patterns)):
                values.count == patterns.count && zip(values, patterns).allSatisfy { agrees($0, $1) }
            case (.number(let a), .number(let b)): abs(a - b) <= 1e-9 * max(1, abs(b))
            default: value == pattern
            }
        }
    }
}

// SPDX-License-Identifier: MIT
import JSON

/// How features are taken into a source.
public struct ImportOptions: Sendable, Equatable {
    /// Whether they come to those that are there, instead of replacing them.
    public var appends = false
    /// Whether bad features are left out and counted, instead of refusing the whole import.
    public var skipsInvalid = false
    /// Bytes of features in a message.
    public var batchSize = 1 << 20

    public init(appends: Bool = false, skipsInvalid: Bool = false) {
        self.appends = appends
        self.skipsInvalid = skipsInvalid
    }
}

/// How far an import is.
public struct ImportProgress: Sendable, Equatable {
    /// Bytes read of the file, as it is (compressed or not).
    public var bytesRead: Int
    /// Features sent.
    public var features: Int
    /// Whether all is sent, and the server's answer is waited for.
    public var isSent: Bool
}

extension Client {
    /// Streams a file's features into a source that exists: all or nothing.
    ///
    /// The file is read in pieces, whatever its size; each feature is checked here to be JSON, and no further. Reading
    /// blocks the task's thread where the input is a pipe.
    ///
    /// - Parameter progress: called after each message, on the calling task.
    /// - Returns: the source's description with `accepted`, `skipped` and `skippedReasons`.
    /// - Throws: `FeatureInputError`, `FeatureTextError`, or as any call; the source stays as it was then.
    public func importFeatures(
        _ input: consuming FeatureInput, into source: String, options: ImportOptions = .init(),
        call callOptions: CallOptions = .init(), progress: (ImportProgress) -> Void = { _ in }
    ) async throws -> Answer {
        let params: JSONObject = [
            "source": .string(source), "mode": .string(options.appends ? "append" : "replace"),
            "onInvalid": .string(options.skipsInvalid ? "skip" : "reject"),
        ]
        let call = try openClientStream("SourceService/ImportFeatures", params, options: callOptions)
        do {
            var batches = FeatureBatches(
                batchSize: options.batchSize, dropsUnreadable: options.skipsInvalid)
            var isAtEnd = false
            while !isAtEnd {
                isAtEnd = try !input.read { batches.push($0) }
                if isAtEnd { batches.finish() }
                while let batch = try batches.next() {
                    try await call.send { bytes in
                        bytes.append("{\"features\":[")
                        bytes.append(contentsOf: batch)
                        bytes.append("]}")
                    }
                    progress(
                        ImportProgress(
                            bytesRead: input.bytesRead, features: batches.featureCount, isSent: false))
                }
            }
            progress(
                ImportProgress(bytesRead: input.bytesRead, features: batches.featureCount, isSent: true))
            return try await call.finish().addingSkipped(batches.unreadableCount)
        } catch {
            call.cancel()
            throw error
        }
    }
}

extension Answer {
    /// The answer of an import with what was left out on this side added to its counts.
    func addingSkipped(_ count: Int) throws -> Answer {
        guard count > 0, var object = try value().asObject else { return self }
        let reason = "badJSON"
        var reasons = object["skippedReasons"]?.asObject ?? [:]
        reasons[reason] = .number((reasons[reason]?.asNumber ?? 0) + Double(count))
        object["skippedReasons"] = .object(reasons)
        object["skipped"] = .number((object["skipped"]?.asNumber ?? 0) + Double(count))
        return Answer(bytes: Array(JSONValue.object(object).text.utf8))
    }
}

// SPDX-License-Identifier: MIT
import ClusterClient
import Glibc
import JSON
import Synchronization

/// A file of the features that an import has left out: a JSON object a line, with the feature's index, line, id,
/// reason, message and text.
final class RejectsFile: Sendable {
    private let file: Mutex<File>

    /// The stream is this value's own, and the lock lets one thread at a time use it; that is why it may be sent.
    private struct File: ~Copyable, @unchecked Sendable {
        let stream: UnsafeMutablePointer<FILE>

        deinit { fclose(stream) }
    }

    init(path: String) throws {
        guard let stream = fopen(path, "we") else {
            throw FeatureInputError(name: path, number: errno)
        }
        file = Mutex(File(stream: stream))
    }

    func write(_ feature: SkippedFeature) {
        var object: JSONObject = ["index": .number(Double(feature.index))]
        object["line"] = feature.line.map { .number(Double($0)) }
        object["id"] = feature.identifier.flatMap { try? JSONReader.parse($0) }
        object["reason"] = .string(feature.reason)
        object["message"] = .string(feature.message)
        object["text"] = .string(String(decoding: feature.text, as: UTF8.self))
        let line = JSONValue.object(object).text + "\n"
        file.withLock { file in _ = fputs(line, file.stream) }
    }

    /// Whether all was written.
    func finish() -> Bool { file.withLock { fflush($0.stream) == 0 && ferror($0.stream) == 0 } }
}

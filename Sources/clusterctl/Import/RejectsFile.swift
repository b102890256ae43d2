// SPDX-License-Identifier: MIT
import ClusterClient
import Glibc
import JSON
import Synchronization

/// A file of the features that an import has skipped: a JSON object on each line, with the feature's index,
/// line, id, reason, message and text.
final class RejectsFile: Sendable {
    private let file: Mutex<File>

    /// This value owns the stream, and the lock lets only one thread at a time use it, so it may be sent.
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
        var line = ByteWriter()
        line.append("{\"index\":")
        line.append(integer: feature.index)
        if let number = feature.line {
            line.append(",\"line\":")
            line.append(integer: number)
        }
        if let identifier = feature.identifier {
            // The id's text is copied, so that long numbers keep their digits.
            line.append(",\"id\":")
            line.append(raw: identifier)
        }
        for (name, text) in [
            ("reason", feature.reason), ("message", feature.message),
            ("text", String(decoding: feature.text, as: UTF8.self)),
        ] {
            line.append(raw: ",\"\(name)\":")
            line.append(json: text)
        }
        line.append("}\n")
        file.withLock { file in
            line.withUnsafeBytes { _ = fwrite($0.baseAddress, 1, $0.count, file.stream) }
        }
    }

    /// Flushes the file; false if any write failed.
    func finish() -> Bool { file.withLock { fflush($0.stream) == 0 && ferror($0.stream) == 0 } }
}

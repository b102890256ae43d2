// SPDX-License-Identifier: MIT
import ClusterClient
import JSON
import Synchronization

/// A file of the features that an import has skipped: a JSON object on each line, with the feature's index,
/// line, id, reason, message and text.
final class RejectsFile: Sendable {
    private let state: Mutex<(file: OutputFile, failure: (any Error)?)>

    init(path: String) throws { state = try Mutex((OutputFile(path), nil)) }

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
        let text = line.bytes
        state.withLock { state in
            do { try state.file.write(text) } catch { state.failure = error }
        }
    }

    /// Completes the file. Throws if a write has failed.
    func finish() throws {
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            try state.file.finish()
        }
    }
}

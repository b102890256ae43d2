// SPDX-License-Identifier: MIT
import JSON

/// Finds what made a file's import fail, by reading the file once more, feature by feature.
public enum FeatureDiagnosis {
    /// A feature that is no JSON.
    public struct Unreadable: Sendable, Equatable, CustomStringConvertible {
        /// The feature's place in the file, from 0.
        public let index: Int
        public let error: JSONError

        public var description: String { "feature \(index): \(error.message)" }
    }

    /// The first feature that is no JSON; nil where all are, or the file cannot be read again.
    public static func firstUnreadable(in path: String) throws -> Unreadable? {
        var input = try FeatureInput(path: path)
        guard input.length != nil else { return nil }
        let parser = JSONParser()
        var batches = FeatureBatches(batchSize: 1)
        var index = 0
        var isAtEnd = false
        while !isAtEnd {
            isAtEnd = try !input.read { batches.push($0) }
            if isAtEnd { batches.finish() }
            while let feature = try batches.next() {
                do { try feature.withUnsafeBytes { try parser.withTape(of: $0) { _ in } } } catch {
                    if case JSONTapeError<Never>.json(let error) = error {
                        return Unreadable(index: index, error: error)
                    }
                }
                index += 1
            }
        }
        return nil
    }
}

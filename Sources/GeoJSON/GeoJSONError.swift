// SPDX-License-Identifier: MIT

/// Why features could not be read.
public enum GeoJSONError: Error, Sendable, Equatable {
    case badFeature(InvalidFeature)
    /// The text is not JSON, or not a format of features. `offset` is in bytes, if known.
    case malformed(message: String, offset: Int?)
    /// The file's compressed data are damaged or end early.
    case damaged(String)
    /// The file cannot be read; the system's error number.
    case unreadable(Int32)
    /// The builder does not admit that many bytes.
    case tooLarge
    /// There are more points than this number, the most that can be numbered.
    case tooMany(Int)
    case cancelled

    /// The message for people.
    public var message: String {
        switch self {
        case .badFeature(let feature): feature.message
        case .malformed(let message, let offset): offset.map { "\(message) (at byte \($0))" } ?? message
        case .damaged(let message): "The compressed file is damaged: \(message)."
        case .unreadable(let number): "The file cannot be read: system error \(number)."
        case .tooLarge: "The features take more memory than there may be."
        case .tooMany(let most):
            "The features have more than \(most) points, the most that a source can hold; spread them over several sources."
        case .cancelled: "The import was cancelled."
        }
    }
}

// SPDX-License-Identifier: MIT

/// How often each evaluation error occurred, by message. Messages may contain values of features: their number and length
/// are limited.
package struct ErrorCounts: Sendable {
    package private(set) var byMessage: [String: Int] = [:]

    static let mostMessages = 256
    static let otherErrors = "Other errors of evaluation."
    private static let longestMessage = 1024

    package init() {}

    package mutating func note(_ message: String) {
        var message = message
        if message.utf8.count > Self.longestMessage {
            message = String(message.prefix(Self.longestMessage / 8)) + "…"
        }
        if byMessage.count >= Self.mostMessages, byMessage[message] == nil { message = Self.otherErrors }
        byMessage[message, default: 0] += 1
    }
}

// SPDX-License-Identifier: MIT

/// A request's method. Methods that no resource supports are one case.
enum HTTPMethod: Sendable, Equatable {
    case get
    case head
    case post
    case put
    case options
    case other

    init(_ token: Span<UInt8>) {
        self = Self.known.first { $0.isNamed(token) } ?? .other
    }

    private static let known: [HTTPMethod] = [.get, .head, .post, .put, .options]

    private func isNamed(_ token: Span<UInt8>) -> Bool {
        let name = staticName
        guard name.utf8CodeUnitCount == token.count else { return false }
        for index in 0..<token.count where name.utf8Start[index] != token[index] { return false }
        return true
    }

    var name: String { staticName.description }

    var staticName: StaticString {
        switch self {
        case .get: "GET"
        case .head: "HEAD"
        case .post: "POST"
        case .put: "PUT"
        case .options: "OPTIONS"
        case .other: "other"
        }
    }
}

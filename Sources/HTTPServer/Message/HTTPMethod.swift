// SPDX-License-Identifier: MIT

/// A request's method. Methods that no resource supports are one case.
package enum HTTPMethod: String, Sendable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case options = "OPTIONS"
    case other

    init(_ token: ArraySlice<UInt8>) {
        self = HTTPMethod(rawValue: String(decoding: token, as: UTF8.self)) ?? .other
    }

    var name: String { rawValue }
}

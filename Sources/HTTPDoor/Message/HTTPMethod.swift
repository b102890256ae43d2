// SPDX-License-Identifier: MIT

/// A request's method. Those that no resource has are all alike.
enum HTTPMethod: Sendable, Equatable {
    case get
    case head
    case post
    case put
    case options
    case other

    init(_ token: some Sequence<UInt8>) {
        let known: [(HTTPMethod, StaticString)] = [
            (.get, "GET"), (.head, "HEAD"), (.post, "POST"), (.put, "PUT"), (.options, "OPTIONS"),
        ]
        let bytes = Array(token)
        self =
            known.first { entry in
                let name = UnsafeBufferPointer(start: entry.1.utf8Start, count: entry.1.utf8CodeUnitCount)
                return name.elementsEqual(bytes)
            }?.0 ?? .other
    }

    var name: String {
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

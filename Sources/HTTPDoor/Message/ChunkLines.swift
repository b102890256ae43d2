// SPDX-License-Identifier: MIT

/// Checks the line ends around the chunks of a body: each line ends with CR LF, and CR LF follows a chunk's content at once
/// (RFC 9112, section 7.1). libhttp_parser accepts any two bytes after a chunk, any byte after a carriage return, and line
/// feeds within a chunk's extension, so it and a proxy could find different ends of the body.
struct ChunkLines {
    private enum Expected {
        case anything
        case carriageReturn
        case lineFeed
    }

    /// The line feed of the head's end comes first: the library stops before it.
    private var expected = Expected.lineFeed
    private(set) var areMalformed = false

    /// Takes bytes that are no content. O(bytes).
    mutating func take(_ bytes: UnsafeRawBufferPointer) {
        for byte in bytes {
            let isReturn = byte == UInt8(ascii: "\r")
            let isFeed = byte == UInt8(ascii: "\n")
            switch expected {
            case .anything: areMalformed = areMalformed || isFeed
            case .carriageReturn: areMalformed = areMalformed || !isReturn
            case .lineFeed: areMalformed = areMalformed || !isFeed
            }
            expected = isReturn ? .lineFeed : .anything
        }
    }

    /// Content comes next.
    mutating func content() {
        areMalformed = areMalformed || expected == .lineFeed
        expected = .carriageReturn
    }
}

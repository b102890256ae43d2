// SPDX-License-Identifier: MIT
import Compression
import Glibc

/// A file or a pipe with features, read piece by piece; gzip (RFC 1952) is recognised and inflated.
///
/// Invariant: `buffer` and `inflated` are this value's own memory of `pieceSize` bytes each, and `descriptor` is
/// open until `deinit`, which closes it unless it was lent.
public struct FeatureInput: ~Copyable {
    static let pieceSize = 1 << 20

    /// What to call it in messages.
    public let name: String
    /// The file's length in bytes, nil where it has none (a pipe).
    public let length: Int?
    /// Bytes read of it so far.
    public private(set) var bytesRead = 0

    private let descriptor: Int32
    private let isLent: Bool
    private let buffer: UnsafeMutableRawBufferPointer
    private var inflated: UnsafeMutableRawBufferPointer?
    private var inflater: InflateStream?
    /// What of `buffer` is read and not handed out.
    private var waiting = 0..<0
    private var isAtEnd = false

    /// Opens a file.
    public init(path: String) throws(FeatureInputError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FeatureInputError(name: path, number: errno) }
        var status = stat()
        let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        if status.st_mode & S_IFMT == S_IFDIR {
            close(descriptor)
            throw FeatureInputError(name: path, number: EISDIR)
        }
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
        self.init(descriptor, name: path, length: isFile ? Int(status.st_size) : nil, isLent: false)
    }

    /// Reads from a descriptor that stays the caller's, such as standard input.
    public init(descriptor: Int32, name: String) {
        self.init(descriptor, name: name, length: nil, isLent: true)
    }

    private init(_ descriptor: Int32, name: String, length: Int?, isLent: Bool) {
        self.descriptor = descriptor
        self.name = name
        self.length = length
        self.isLent = isLent
        buffer = .allocate(byteCount: Self.pieceSize, alignment: 64)
    }

    deinit {
        buffer.deallocate()
        inflated?.deallocate()
        if !isLent { close(descriptor) }
    }

    /// Lends the next piece of text; false where there is none. Blocks while a pipe is empty.
    mutating func read(_ body: (UnsafeRawBufferPointer) -> Void) throws -> Bool {
        let isFirst = bytesRead == 0
        guard inflater != nil || !isFirst else {
            try fill()
            guard !waiting.isEmpty else { return false }
            if Self.isGzip(buffer, waiting) {
                inflater = try InflateStream(format: .gzip)
                inflated = .allocate(byteCount: Self.pieceSize, alignment: 64)
            }
            return try read(body)
        }
        if inflater != nil { return try readInflated(body) }
        if waiting.isEmpty { try fill() }
        guard !waiting.isEmpty else { return false }
        body(UnsafeRawBufferPointer(rebasing: buffer[waiting]))
        waiting = 0..<0
        return true
    }

    private mutating func readInflated(_ body: (UnsafeRawBufferPointer) -> Void) throws -> Bool {
        guard let inflated else { return false }
        while true {
            if waiting.isEmpty { try fill() }
            guard !waiting.isEmpty else {
                guard inflater?.isFinished ?? true else {
                    throw FeatureTextError(message: "the compressed file ends too early", offset: bytesRead)
                }
                return false
            }
            let input = UnsafeRawBufferPointer(rebasing: buffer[waiting])
            guard let step = try inflater?.inflate(input, into: inflated) else { return false }
            waiting = waiting.lowerBound + step.read..<waiting.upperBound
            guard step.written > 0 else { continue }
            body(UnsafeRawBufferPointer(rebasing: inflated[..<step.written]))
            return true
        }
    }

    private mutating func fill() throws(FeatureInputError) {
        guard !isAtEnd else { return }
        while true {
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw FeatureInputError(name: name, number: errno) }
            isAtEnd = count == 0
            waiting = 0..<count
            bytesRead += count
            return
        }
    }

    private static func isGzip(_ buffer: UnsafeMutableRawBufferPointer, _ filled: Range<Int>) -> Bool {
        filled.count >= 2 && buffer[filled.lowerBound] == 0x1F && buffer[filled.lowerBound + 1] == 0x8B
    }
}

/// A file that cannot be read.
public struct FeatureInputError: Error, Sendable, Equatable, CustomStringConvertible {
    public let name: String
    /// The system's error number.
    public let number: Int32

    public init(name: String, number: Int32) {
        self.name = name
        self.number = number
    }

    public var description: String { "\(name): \(String(cString: strerror(number)))" }
}

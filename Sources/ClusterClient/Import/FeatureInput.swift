// SPDX-License-Identifier: MIT
import GeoJSON
import Glibc

/// A file or a pipe that contains features, read piece by piece.
///
/// Invariant: `descriptor` is open until `deinit`, which closes it unless it was lent.
public struct FeatureInput: ~Copyable {
    static let pieceSize = 256 << 10

    /// Its name in messages.
    public let name: String
    /// The file's length in bytes; nil if it has none (a pipe).
    public let length: Int?
    /// Bytes read so far.
    public private(set) var bytesRead = 0

    private let descriptor: Int32
    private let isLent: Bool
    private var buffer = [UInt8](repeating: 0, count: pieceSize)
    private let atEnd: @Sendable (_ bytesRead: Int) throws -> Void

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
        self.init(descriptor, name: path, length: isFile ? Int(status.st_size) : nil, isLent: false) { _ in }
    }

    /// Reads from a descriptor that the caller owns, such as standard input.
    ///
    /// - Parameter atEnd: called at the end of the input, with the number of bytes read; if it throws, nothing is
    ///   imported.
    public init(
        descriptor: Int32, name: String,
        atEnd: @escaping @Sendable (_ bytesRead: Int) throws -> Void = { _ in }
    ) {
        self.init(descriptor, name: name, length: nil, isLent: true, atEnd: atEnd)
    }

    private init(
        _ descriptor: Int32, name: String, length: Int?, isLent: Bool,
        atEnd: @escaping @Sendable (_ bytesRead: Int) throws -> Void
    ) {
        self.descriptor = descriptor
        self.name = name
        self.length = length
        self.isLent = isLent
        self.atEnd = atEnd
    }

    deinit { if !isLent { close(descriptor) } }

    /// Passes the next piece to `body`; returns false at the end. Blocks while a pipe is empty.
    public mutating func read(_ body: (Span<UInt8>) -> Void) throws -> Bool {
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw FeatureInputError(name: name, number: errno) }
            guard count > 0 else {
                try atEnd(bytesRead)
                return false
            }
            bytesRead += count
            body(buffer.span.extracting(..<count))
            return true
        }
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

/// Text whose features cannot be sent.
public struct FeatureTextError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, and its location: the index, line and id of a feature, or the byte.
    public let message: String
    /// Whether the cause is invalid features, which an import can skip.
    public let isOfFeatures: Bool

    public var description: String { message }

    init(_ error: GeoJSONError) {
        message = error.message
        if case .badFeature = error { isOfFeatures = true } else { isOfFeatures = false }
    }

    init(message: String) { (self.message, isOfFeatures) = (message, false) }
}

// SPDX-License-Identifier: MIT
import SystemSupport

/// An immutable array of trivial values, as it was made or in the image of the file from which it was loaded.
/// The latter takes no memory besides the image.
///
/// It is not a collection: in another module each access through a collection's generic functions would
/// allocate memory. That is also why `withValues` is inlined into other modules.
///
/// Invariant: borrowed values lie in the image, which `owner` keeps alive, and are aligned. Nobody writes
/// them, so they may be shared.
package struct SectionValues<Element: BitwiseCopyable & Sendable>: @unchecked Sendable {
    @usableFromInline enum Storage {
        case array([Element])
        case borrowed(UnsafeBufferPointer<Element>, owner: AnyObject)
    }

    @usableFromInline let storage: Storage
    package let count: Int
    package var isEmpty: Bool { count == 0 }

    package init(_ values: [Element]) {
        storage = .array(values)
        count = values.count
    }

    /// - Parameter bytes: a loaded section of the image. Sections are aligned to 64 bytes.
    init(_ bytes: UnsafeRawBufferPointer, of image: SourceImage) {
        let values = bytes.bindMemory(to: Element.self)
        storage = .borrowed(values, owner: image)
        count = values.count
    }

    /// Bytes of memory besides an image's.
    package var memoryBytes: Int {
        switch storage {
        case .array: count * MemoryLayout<Element>.stride
        case .borrowed(_, let owner):
            (owner as? SourceImage)?.isEvictable == true ? 0 : count * MemoryLayout<Element>.stride
        }
    }

    /// Whether reading them does not wait for a disk.
    package var isResident: Bool {
        switch storage {
        case .array: true
        case .borrowed(_, let owner): (owner as? SourceImage)?.isResident ?? true
        }
    }

    /// The value at an index.
    ///
    /// - Precondition: `0 <= index < count`.
    @inlinable package subscript(index: Int) -> Element {
        switch storage {
        case .borrowed(let values, _): values[index]
        case .array(let values): values[index]
        }
    }

    /// Lends the values.
    @inlinable package func withValues<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<Element>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        switch storage {
        case .borrowed(let values, let owner):
            defer { withExtendedLifetime(owner) {} }
            return try body(values)
        case .array(let values): return try values.withUnsafeBufferPointer(body)
        }
    }
}

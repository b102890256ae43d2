// SPDX-License-Identifier: MIT
import SystemSupport

/// An immutable array of trivial values, as it was made or in the image of the file from which it was loaded. The latter takes no
/// memory besides the image.
///
/// Invariant: borrowed values lie in the image, which is kept alive, were loaded, and are aligned. Nobody writes them, so they may be shared.
package struct SectionValues<Element: BitwiseCopyable & Sendable>: RandomAccessCollection, @unchecked Sendable
{
    private enum Storage {
        case array([Element])
        case borrowed(UnsafeBufferPointer<Element>, FileImage)
    }

    private let storage: Storage
    package let endIndex: Int
    package var startIndex: Int { 0 }

    package init(_ values: [Element]) {
        storage = .array(values)
        endIndex = values.count
    }

    /// - Parameter bytes: a loaded section of the image. Sections are aligned to 64 bytes.
    init(_ bytes: UnsafeRawBufferPointer, of image: FileImage) {
        let values = bytes.bindMemory(to: Element.self)
        storage = .borrowed(values, image)
        endIndex = values.count
    }

    package subscript(position: Int) -> Element {
        switch storage {
        case .array(let values): values[position]
        case .borrowed(let values, _): values[position]
        }
    }

    /// Lends the values' bytes.
    package func withBytes<Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        switch storage {
        case .borrowed(let values, _): try body(UnsafeRawBufferPointer(values))
        case .array(let values):
            var failure: Failure?
            values.withUnsafeBytes { bytes in
                do throws(Failure) { try body(bytes) } catch { failure = error }
            }
            if let failure { throw failure }
        }
    }
}

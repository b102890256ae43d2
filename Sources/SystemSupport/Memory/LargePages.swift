// SPDX-License-Identifier: MIT
import Glibc

/// Memory on large pages where the system has them: to hand out a large array's pages one by one, each made empty
/// first, takes longer than to fill it.
package enum LargePages {
    private static let pageSize = 2 << 20

    /// Asks for large pages for memory that nobody has touched yet; a wish, which changes nothing else.
    package static func advise<Value>(_ memory: UnsafeMutableBufferPointer<Value>) {
        let bytes = UnsafeMutableRawBufferPointer(memory)
        guard let base = bytes.baseAddress, bytes.count >= 2 * pageSize else { return }
        let before = (pageSize - Int(bitPattern: base) & (pageSize - 1)) & (pageSize - 1)
        let length = (bytes.count - before) & ~(pageSize - 1)
        madvise(base + before, length, Int32(MADV_HUGEPAGE))
    }
}

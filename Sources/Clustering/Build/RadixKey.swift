// SPDX-License-Identifier: MIT

/// The key by which elements are sorted. It is a type instead of a closure so that it is inlined into the sort.
protocol RadixKey {
    associatedtype Element: BitwiseCopyable
    func key(_ element: Element) -> UInt64
}

// SPDX-License-Identifier: MIT

/// Reads many features of a store, mostly in order. Used by one thread at a time.
///
/// Text in a file is read in large pieces. For a single feature, the store is faster.
public final class FeatureScan {
    /// The number of bytes to read at once, a multiple of an image's pages.
    public static let windowSize = 1 << 18
    /// The bytes before a feature in its window, since its first page must be read as a whole.
    private static let lead = 1 << 16

    private let store: FeatureStore
    private var window: UnsafeMutableRawBufferPointer?
    /// The range of the text in the window.
    private var filled = 0..<0

    public init(_ store: FeatureStore) { self.store = store }

    deinit { window?.deallocate() }

    /// A feature's record, valid until the next call.
    func record(_ index: Int) -> FeatureRecord {
        guard let text = store.textInFile, !store.isChanged(index) else { return store.record(index) }
        let range = store.range(index)
        if range.lowerBound >= filled.lowerBound, range.upperBound <= filled.upperBound {
            return record(range)
        }
        // A record that does not fit into the window, or is before it, is read like a single one.
        guard range.count <= Self.windowSize - Self.lead, range.lowerBound >= filled.lowerBound else {
            return store.record(index)
        }
        let window = window ?? .allocate(byteCount: Self.windowSize, alignment: 16)
        self.window = window
        filled = text.fill(window, from: range.lowerBound) ?? 0..<0
        guard range.lowerBound >= filled.lowerBound, range.upperBound <= filled.upperBound else {
            return .empty
        }
        return record(range)
    }

    private func record(_ range: Range<Int>) -> FeatureRecord {
        guard let window else { return .empty }
        let first = range.lowerBound - filled.lowerBound
        return FeatureRecord(UnsafeRawBufferPointer(window), first..<first + range.count)
    }

    /// Lends a feature's properties as JSON text: an object or null.
    public func withProperties<Result>(
        _ index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try body(record(index).properties)
    }

    /// Lends a feature's id as JSON text; nil if it has none.
    public func withIdentifier<Result>(
        _ index: Int, _ body: (UnsafeRawBufferPointer?) throws -> Result
    ) rethrows -> Result {
        let identifier = record(index).identifier
        return try body(identifier.isEmpty ? nil : identifier)
    }

    /// A feature's coordinates, in degrees.
    func coordinates(_ index: Int) -> (longitude: Double, latitude: Double) {
        record(index).coordinateNumbers
    }
}

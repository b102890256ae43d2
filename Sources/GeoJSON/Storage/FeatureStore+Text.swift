// SPDX-License-Identifier: MIT

extension FeatureStore {
    /// The size of a plain store's text, its records one after another.
    public var textBytes: Int { textCount }

    /// Lends a piece of a plain store's text, valid only during the call; nil if it cannot be read.
    ///
    /// - Parameters:
    ///   - range: begins at a multiple of `textStep`; ends at one or at the end.
    ///   - window: memory for `textStep` bytes more, used for text in a file.
    public func withText<Result>(
        _ range: Range<Int>, window: UnsafeMutableRawBufferPointer, _ body: (UnsafeRawBufferPointer?) throws -> Result
    ) rethrows -> Result {
        guard let text = textInFile, !range.isEmpty else {
            return try withExtendedLifetime(blob) { try body(UnsafeRawBufferPointer(rebasing: blob.bytes[range])) }
        }
        guard let filled = text.fill(window, from: range.lowerBound), filled.lowerBound == range.lowerBound,
            filled.upperBound >= range.upperBound
        else { return try body(nil) }
        return try body(UnsafeRawBufferPointer(rebasing: window[..<range.count]))
    }

    /// A multiple of an image's pages.
    public static let textStep = 1 << 16

    /// A plain store's features on the arrays and the text of another store. Answers do not change.
    ///
    /// - Parameter other: has the same features.
    public func reading(_ other: FeatureStore) -> FeatureStore {
        FeatureStore(
            text: other.text, records: other.records, inputRows: other.inputRows, moments: moments, lineage: lineage)
    }

    /// The same features on a plain store that `reading` returned for `plainBase`.
    public func moved(to base: FeatureStore) -> FeatureStore {
        guard let changes else { return base }
        let moved = FeatureChanges(
            base: base, locations: changes.locations, stores: changes.stores, rowCount: changes.rowCount,
            removedCount: changes.removedCount)
        return FeatureStore(changes: moved, count: count)
    }

    /// Lets the records of features be read from the disk side by side, if they are in a file.
    public func willRead(_ features: [Int]) {
        guard let text, text.isEvictable, features.count > 1, let start = text.bytes.baseAddress else {
            return
        }
        let built = features.filter { !isChanged($0) }
        text.willRead(built.flatMap { records.addresses($0) })
        text.willRead(built.map { start + range($0).lowerBound })
    }
}

extension FeatureStore {
    /// All bytes that reading features of a plain store may need from a file: their text, and where each record begins.
    public var readParts: [UnsafeRawBufferPointer] {
        guard let text, count > 0 else { return [] }
        let (starts, offsets) = records.parts(0..<count)
        return [starts, offsets, text.bytes]
    }
}

extension RecordOffsets {
    /// The numbers from which `start` follows.
    func parts(_ range: Range<Int>) -> (starts: UnsafeRawBufferPointer, offsets: UnsafeRawBufferPointer) {
        let blocks = range.lowerBound / FeatureStore.blockSize...(range.upperBound - 1) / FeatureStore.blockSize
        return (
            UnsafeRawBufferPointer(
                UnsafeBufferPointer(start: blockStarts.base + blocks.lowerBound, count: blocks.count)),
            UnsafeRawBufferPointer(UnsafeBufferPointer(start: offsets.base + range.lowerBound, count: range.count))
        )
    }

    /// Where the numbers are from which `start` follows.
    fileprivate func addresses(_ index: Int) -> [UnsafeRawPointer] {
        [UnsafeRawPointer(blockStarts.base + index / FeatureStore.blockSize), UnsafeRawPointer(offsets.base + index)]
    }
}

/// Appends texts of plain stores to another one, in pieces that are read from a file only once if their order is that
/// of the file.
struct TextCopier {
    private var window: UnsafeMutableRawBufferPointer?
    /// Whose bytes are in the window, and which.
    private var source: ObjectIdentifier?
    private var filled = 0..<0

    /// Must be called last.
    mutating func finish() {
        window?.deallocate()
        window = nil
    }

    /// Appends some of a plain store's text. If it is damaged, `isDamaged` becomes true, and the appended text is
    /// useless.
    mutating func append(_ range: Range<Int>, of store: FeatureStore, to target: inout GatheredText) {
        guard let text = store.textInFile else {
            return target.append(UnsafeRawBufferPointer(rebasing: store.blob.bytes[range]))
        }
        let window =
            window ?? UnsafeMutableRawBufferPointer.allocate(byteCount: FeatureScan.windowSize, alignment: 16)
        self.window = window
        if source != ObjectIdentifier(text) { (source, filled) = (ObjectIdentifier(text), 0..<0) }
        var offset = range.lowerBound
        while offset < range.upperBound {
            if !filled.contains(offset) { filled = text.fill(window, from: offset) ?? 0..<0 }
            if !filled.contains(offset) {
                filled = offset..<offset + window.count
                window.initializeMemory(as: UInt8.self, repeating: 0)
            }
            let end = min(filled.upperBound, range.upperBound)
            target.append(
                UnsafeRawBufferPointer(rebasing: window[offset - filled.lowerBound..<end - filled.lowerBound]))
            offset = end
        }
    }
}

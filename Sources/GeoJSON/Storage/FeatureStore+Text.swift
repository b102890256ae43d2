// SPDX-License-Identifier: MIT

extension FeatureStore {
    /// Bytes of a plain store's text, records one behind the other.
    public var textBytes: Int { textCount }

    /// Lends a piece of a plain store's text, valid during the call; nil if it can't be had.
    ///
    /// - Parameters:
    ///   - range: begins at a multiple of `TextGuard.chunkSize`; ends at one or at the end.
    ///   - window: room for as many bytes, used for text that lies in a file.
    public func withText<Result>(
        _ range: Range<Int>, window: UnsafeMutableRawBufferPointer,
        _ body: (UnsafeRawBufferPointer?) throws -> Result
    ) rethrows -> Result {
        guard let text else {
            let isGood = blob.guardian?.admits(range, of: blob.bytes) ?? true
            return try withExtendedLifetime(blob) {
                try body(isGood ? UnsafeRawBufferPointer(rebasing: blob.bytes[range]) : nil)
            }
        }
        guard !range.isEmpty else { return try body(UnsafeRawBufferPointer(window)) }
        let part = UnsafeMutableRawBufferPointer(rebasing: window[..<range.count])
        guard text.fill(part, from: range.lowerBound) == range else { return try body(nil) }
        return try body(UnsafeRawBufferPointer(part))
    }

    /// A plain store's features with their text elsewhere. Answers do not change.
    ///
    /// - Parameter text: the same bytes.
    public func reading(_ text: any FeatureText) -> FeatureStore {
        FeatureStore(
            blob: FeatureBlob(), text: text, records: records, moments: moments, fresh: nil, lineage: lineage)
    }

    /// The same features above a plain store that `reading` gave for `plainBase`.
    public func moved(to base: FeatureStore) -> FeatureStore {
        guard let changes else { return base }
        let moved = FeatureChanges(
            base: base, places: changes.places, stores: changes.stores, rowCount: changes.rowCount,
            goneCount: changes.goneCount)
        return FeatureStore(changes: moved, count: count)
    }

    /// Appends some of a plain store's text. If it is damaged, the store says so from now on, and what was appended is of no
    /// use.
    func appendText(_ range: Range<Int>, to target: JoinedText) {
        guard let text else {
            _ = blob.guardian?.admits(range, of: blob.bytes)
            return target.append(UnsafeRawBufferPointer(rebasing: blob.bytes[range]))
        }
        let window = UnsafeMutableRawBufferPointer.allocate(
            byteCount: FeatureScan.windowSize, alignment: 16)
        defer { window.deallocate() }
        var place = range.lowerBound
        while place < range.upperBound {
            guard let filled = text.fill(window, from: place), filled.contains(place) else {
                return target.append(zeros: range.upperBound - place)
            }
            let end = min(filled.upperBound, range.upperBound)
            target.append(
                UnsafeRawBufferPointer(
                    rebasing: window[place - filled.lowerBound..<end - filled.lowerBound]))
            place = end
        }
    }
}

// SPDX-License-Identifier: MIT
import JSON

/// Joins the text of several stores in memory or in a file. Used by one thread.
final class JoinedText {
    private(set) var count = 0
    /// Text that is not in the file yet, or all of it if there is no file.
    private let blob: FeatureBlob
    private let sink: (any TextSink)?

    /// The number of bytes to write to the file at once.
    private static let stepSize = 1 << 20

    init(capacity: Int, _ sink: (any TextSink)?) {
        self.sink = sink
        blob = FeatureBlob(capacity: sink == nil ? capacity : Self.stepSize)
    }

    func append(_ bytes: LentBytes) {
        var rest = bytes
        while rest.count > 0 {
            let size = sink == nil ? rest.count : min(rest.count, Self.stepSize - blob.count)
            blob.append(rest.upTo(size))
            count += size
            rest = rest.from(size)
            if blob.count == Self.stepSize { writeOut() }
        }
    }

    func append(zeros more: Int) {
        let zeros = [UInt8](repeating: 0, count: min(more, Self.stepSize))
        var rest = more
        while rest > 0 {
            let size = min(rest, zeros.count)
            zeros.lend { append($0.upTo(size)) }
            rest -= size
        }
    }

    private func writeOut() {
        guard let sink else { return }
        sink.write(blob.bytes.raw, at: count - blob.count)
        blob.removeAll()
    }

    /// The text, in memory or in a file.
    func finish() -> (FeatureBlob, (any FeatureText)?) {
        guard let sink else {
            blob.shrink()
            return (blob, nil)
        }
        writeOut()
        return (FeatureBlob(), sink.finish(count: count))
    }
}

/// Stores by number, in groups that copies share. Copying the list costs one reference per group, and appending at most the copy
/// of a group's references.
struct StoreList: Sendable {
    private var groups: [[FeatureStore]] = []
    private(set) var count = 0

    private static let groupCount = 64

    init(_ stores: [FeatureStore] = []) { for store in stores { append(store) } }

    /// - Precondition: `number < count`.
    @inline(__always) subscript(number: UInt32) -> FeatureStore {
        groups[Int(number) / Self.groupCount][Int(number) % Self.groupCount]
    }

    mutating func append(_ store: FeatureStore) {
        if count % Self.groupCount == 0 {
            groups.append([store])
        } else {
            groups[groups.count - 1].append(store)
        }
        count += 1
    }

    /// All stores, by number.
    var all: some Sequence<FeatureStore> { groups.lazy.joined() }
}

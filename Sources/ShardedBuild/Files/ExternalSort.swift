// SPDX-License-Identifier: MIT
import Clustering
import SystemSupport

/// Sorts more values than fit into memory: sorted runs in files, which are merged. Equal values keep no order, so their
/// comparison should leave none equal.
struct ExternalSort<Value: BitwiseCopyable & Sendable> {
    private let path: String
    private let isBefore: (Value, Value) -> Bool
    private let sort: (inout [Value]) -> Void
    private var gathered: [Value] = []
    private let mostGathered: Int
    private let memory: Int
    private var runs: [String] = []
    /// The number of values.
    private(set) var count = 0

    /// - Parameters:
    ///   - path: begins the names of the runs' files.
    ///   - memory: in bytes.
    ///   - sort: sorts by the same comparison; nil for the library's sort.
    init(
        at path: String, memory: Int, by isBefore: @escaping (Value, Value) -> Bool,
        sort: ((inout [Value]) -> Void)? = nil
    ) {
        (self.path, self.memory, self.isBefore) = (path, memory, isBefore)
        self.sort = sort ?? { $0.sort(by: isBefore) }
        // A sort needs room for as many values again.
        mostGathered = max(1024, memory / 2 / MemoryLayout<Value>.stride)
    }

    mutating func append(_ value: Value) throws(BuildError) {
        gathered.append(value)
        count += 1
        if gathered.count >= mostGathered { try endRun() }
    }

    private mutating func endRun() throws(BuildError) {
        guard !gathered.isEmpty else { return }
        sort(&gathered)
        let path = Attempt.path(of: "\(path).run")
        let writer = try ValueWriter<Value>(path)
        try gathered.withUnsafeBufferPointer { (values) throws(BuildError) in try writer.append(contentsOf: values) }
        try writer.finish(isTemporary: true)
        runs.append(path)
        gathered.removeAll(keepingCapacity: true)
    }

    /// Calls `body` with all values in order, and removes the runs.
    mutating func finish(_ body: (Value) throws(BuildError) -> Void) throws(BuildError) {
        if runs.isEmpty {
            sort(&gathered)
            for value in gathered { try body(value) }
            return
        }
        try endRun()
        gathered = []
        var merge = try SortedMerge(runs, memory: memory, by: isBefore)
        while let value = try merge.next() { try body(value) }
        for path in runs { FileIO.remove(path) }
    }

    /// Writes all values in order into a file.
    mutating func write(to path: String) throws(BuildError) {
        let writer = try ValueWriter<Value>(path)
        try finish { (value) throws(BuildError) in try writer.append(value) }
        try writer.finish()
    }
}

extension ExternalSort where Value == UInt64 {
    /// Sorts numbers.
    init(at path: String, memory: Int) {
        self.init(at: path, memory: memory, by: <, sort: { NumberSort.sort(&$0) })
    }
}

/// Reads sorted files of values as one. If there are more files than may be open, some are merged into others before.
struct SortedMerge<Value: BitwiseCopyable> {
    private let readers: [ValueReader<Value>]
    /// Changes a value of the file with this index.
    private let adjust: ((inout Value, Int) -> Void)?
    /// By reader: the index of its file; nil if its values are adjusted already.
    private let files: [Int?]
    private let isBefore: (Value, Value) -> Bool
    /// A binary heap of the readers' next values, the least first.
    private var heap: [(value: Value, reader: Int)] = []

    /// - Parameters:
    ///   - memory: for buffers, in bytes.
    ///   - most: how many files are open at the same time.
    ///   - adjust: changes the values of a file, with its index, and not their order.
    /// - Complexity: reads and writes values once more for each power of `most` files.
    init(
        _ paths: [String], memory: Int, most: Int = OpenFiles.merged, adjust: ((inout Value, Int) -> Void)? = nil,
        by isBefore: @escaping (Value, Value) -> Bool
    ) throws(BuildError) {
        var sources = paths.indices.map { (path: paths[$0], file: Int?($0)) }
        while sources.count > most {
            // Only as many as it takes for the rest to be open at once.
            let count = min(most, sources.count - most + 1)
            let target = Attempt.path(of: paths[0] + ".merged")
            try Self(Array(sources[..<count]), memory, adjust, isBefore).write(to: target)
            sources.removeFirst(count)
            sources.append((target, nil))
        }
        try self.init(sources, memory, adjust, isBefore)
    }

    private init(
        _ sources: [(path: String, file: Int?)], _ memory: Int, _ adjust: ((inout Value, Int) -> Void)?,
        _ isBefore: @escaping (Value, Value) -> Bool
    ) throws(BuildError) {
        var readers: [ValueReader<Value>] = []
        let bytes = max(1 << 14, min(1 << 20, memory / max(1, sources.count)))
        for source in sources {
            readers.append(try ValueReader<Value>(source.path, bufferBytes: bytes))
            // What was merged before is read once, by this reader.
            if source.file == nil { FileIO.remove(source.path) }
        }
        (self.readers, self.adjust, self.isBefore) = (readers, adjust, isBefore)
        files = sources.map(\.file)
        for index in readers.indices {
            if let value = try read(index) { heap.append((value, index)) }
        }
        for index in heap.indices.reversed() { siftDown(index) }
    }

    /// Writes all values into a file for this process alone.
    private consuming func write(to path: String) throws(BuildError) {
        let writer = try ValueWriter<Value>(path)
        while let value = try next() { try writer.append(value) }
        try writer.finish(isTemporary: true)
    }

    @inline(__always) private func read(_ reader: Int) throws(BuildError) -> Value? {
        guard var value = try readers[reader].read() else { return nil }
        if let adjust, let file = files[reader] { adjust(&value, file) }
        return value
    }

    /// The value that comes next; nil at the end.
    var head: Value? { heap.first?.value }

    private mutating func siftDown(_ start: Int) {
        var index = start
        while 2 * index + 1 < heap.count {
            var child = 2 * index + 1
            if child + 1 < heap.count, isBefore(heap[child + 1].value, heap[child].value) { child += 1 }
            guard isBefore(heap[child].value, heap[index].value) else { return }
            heap.swapAt(index, child)
            index = child
        }
    }

    /// The next value in order; nil at the end.
    mutating func next() throws(BuildError) -> Value? {
        guard let first = heap.first else { return nil }
        if let value = try read(first.reader) {
            heap[0].value = value
        } else {
            let last = heap.removeLast()
            if heap.isEmpty { return first.value }
            heap[0] = last
        }
        siftDown(0)
        return first.value
    }
}

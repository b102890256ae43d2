// SPDX-License-Identifier: MIT
import SystemSupport

/// Sorts more values than fit into memory: sorted runs in files, which are merged. Equal values keep no order, so their
/// comparison should leave none equal.
struct ExternalSort<Value: BitwiseCopyable & Sendable> {
    private let path: String
    private let isBefore: (Value, Value) -> Bool
    private var gathered: [Value] = []
    private let mostGathered: Int
    private let memory: Int
    private var runs: [String] = []
    /// The number of values.
    private(set) var count = 0

    /// - Parameters:
    ///   - path: begins the names of the runs' files.
    ///   - memory: in bytes.
    init(at path: String, memory: Int, by isBefore: @escaping (Value, Value) -> Bool) {
        (self.path, self.memory, self.isBefore) = (path, memory, isBefore)
        mostGathered = max(1024, memory / MemoryLayout<Value>.stride)
    }

    mutating func append(_ value: Value) throws(BuildError) {
        gathered.append(value)
        count += 1
        if gathered.count >= mostGathered { try endRun() }
    }

    private mutating func endRun() throws(BuildError) {
        guard !gathered.isEmpty else { return }
        gathered.sort(by: isBefore)
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
            gathered.sort(by: isBefore)
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

/// Reads sorted files of values as one.
struct SortedMerge<Value: BitwiseCopyable> {
    private let readers: [ValueReader<Value>]
    private let adjust: ((inout Value, Int) -> Void)?
    private let isBefore: (Value, Value) -> Bool
    /// A binary heap of the readers' next values, the least first.
    private var heap: [(value: Value, reader: Int)] = []

    /// - Parameters:
    ///   - memory: for buffers, in bytes.
    ///   - adjust: changes the values of a file, with its index, and not their order.
    init(
        _ paths: [String], memory: Int, adjust: ((inout Value, Int) -> Void)? = nil,
        by isBefore: @escaping (Value, Value) -> Bool
    ) throws(BuildError) {
        var readers: [ValueReader<Value>] = []
        let bytes = max(1 << 14, min(1 << 20, memory / max(1, paths.count)))
        for path in paths { readers.append(try ValueReader<Value>(path, bufferBytes: bytes)) }
        (self.readers, self.adjust, self.isBefore) = (readers, adjust, isBefore)
        for index in readers.indices {
            if let value = try read(index) { heap.append((value, index)) }
        }
        for index in heap.indices.reversed() { siftDown(index) }
    }

    @inline(__always) private func read(_ reader: Int) throws(BuildError) -> Value? {
        guard var value = try readers[reader].read() else { return nil }
        adjust?(&value, reader)
        return value
    }

    /// The index of the file that has the next value; nil at the end.
    var nextReader: Int? { heap.first?.reader }

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

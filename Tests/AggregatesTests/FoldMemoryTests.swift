// SPDX-License-Identifier: MIT
import Expressions
import Foundation
import JSON
import SystemSupport
import Testing

@testable import Aggregates

@Suite("Memory of folds") struct FoldMemoryTests {
    @Test("what is folded for all points lies in files if blocks do, and takes no memory") func inFiles() async {
        // In a process of its own, since all blocks of a process lie in files.
        await #expect(processExitsWith: .success) {
            let folder = NSTemporaryDirectory() + "clusterd-folds-" + UUID().uuidString
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            FileBlocks.use(directory: folder)
            // Both lists of a column and all arrays of rows are larger than the least block in a file.
            let count = 1_200_000
            let before = try Self.anonymousBytes()
            var writer = PropertyColumnWriter(rows: count)
            for row in 0..<count { writer.append(Double(row % 1000)) }
            var columns = FeatureColumns(count: count)
            columns.add("v", writer.finish())
            let rows = RowSource(columns: columns, rows: Array(large: count) { UInt32(count - 1 - $0) })
            func map(_ text: String) throws -> Expressions.Expression {
                try Expressions.Expression(compiling: JSONReader.parse(text), purpose: .map)
            }
            let values = try map(#"["get","v"]"#).values(rows)
            let numbers = try map(#"["+",1,["get","v"]]"#).numbers(rows)
            let codes = try ValueCodes(values, isCancelled: { false })
            let arrays = [values.foldableNumbers, values.summands, numbers.values]
            let counts = [values.numberCounts, values.presences, codes.codes]
            let grown = try Self.anonymousBytes() - before
            #expect(grown < 16 << 20, "\(grown) bytes of \(count) rows are in memory")
            #expect(arrays.map { $0[count - 8] } == [7, 7, 8] && counts.map { $0[0] } == [1, 1, 0])
        }
    }

    /// RssAnon of this process.
    private static func anonymousBytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
        return try #require(line.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }.first) * 1024
    }
}

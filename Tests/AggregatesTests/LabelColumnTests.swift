// SPDX-License-Identifier: MIT
import JSON
import SourceTestSupport
import SystemSupport
import Testing

@testable import Aggregates
@testable import Expressions

@Suite("Columns of labels")
struct LabelColumnTests {
    @Test(
        "numbering and sorting many different values asks regularly whether it is cancelled, and then stops")
    func cancellation() throws {
        let count = 20_000
        var values = RowValues(capacity: count)
        for row in 0..<count {
            values.others.append(.string("\(row * 7919 % count)"))
            values.append(.other, Double(row))
        }
        func make(after looks: Int) throws -> (isDone: Bool, asked: Int) {
            let asked = OutcomeCounts()
            let cancellation = Cancellation {
                asked.count(true)
                return asked.counts.yes > looks
            }
            do throws(EvaluationStop) {
                _ = try LabelColumn("distinct", values, cancellation, LabelAggregate.writeDistinct)
                return (true, asked.counts.yes)
            } catch {
                #expect(error == .cancelled)
                return (false, asked.counts.yes)
            }
        }
        let whole = try make(after: .max)
        // A sort compares each value about as often as the logarithm of their number.
        #expect(whole.isDone)
        #expect(whole.asked > 10 * count / 4096)
        for looks in stride(from: 0, to: whole.asked, by: 5) {
            let stopped = try make(after: looks)
            #expect(!stopped.isDone)
            #expect(stopped.asked == looks + 1)
        }
    }

    @Test("joining the parts of a column with many different strings asks regularly whether it is cancelled")
    func joining() throws {
        let count = 30_000
        func join(after looks: Int) -> (column: PropertyColumn?, asked: Int) {
            let cells = PropertyCells(count: count)
            let parts = [0..<10, 10..<count].map { rows in
                var writer = PropertyColumnWriter(filling: rows, of: cells)
                for row in rows { writer.append(.string("\(row)")) }
                return writer
            }
            var asked = 0
            let column = PropertyColumn(parts) {
                asked += 1
                return asked > looks
            }
            return (column, asked)
        }
        let whole = join(after: .max)
        #expect(whole.asked >= (count - 10) / 4096)
        #expect(whole.column?.value(count - 1) == .string("\(count - 1)"))
        for looks in 0..<whole.asked {
            let stopped = join(after: looks)
            #expect(stopped.column == nil)
            #expect(stopped.asked == looks + 1)
        }
    }
}

// SPDX-License-Identifier: MIT

/// Why a table cannot be followed; at least one problem.
struct TableProblems: Error, Sendable, Equatable, CustomStringConvertible {
    let all: [TableProblem]

    init(_ problems: [TableProblem]) {
        all = problems.isEmpty ? [TableProblem(.table, "the table cannot be followed")] : problems
    }

    var description: String { all.map(\.description).joined(separator: ". ") }
}

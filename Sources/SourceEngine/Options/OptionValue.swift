// SPDX-License-Identifier: MIT
import JSON

/// Reads single option values. Errors contain the value's path.
package enum OptionValue {
    package static func integer(_ value: JSONValue, in range: ClosedRange<Int>, path: String) throws(SourceError) -> Int
    {
        guard case .number(let number) = value, let integer = Int(exactly: number), range.contains(integer) else {
            throw .invalidParameter(
                path: path, message: "must be an integer from \(range.lowerBound) to \(range.upperBound)")
        }
        return integer
    }

    package static func positive(_ value: JSONValue, path: String) throws(SourceError) -> Double {
        guard case .number(let number) = value, number.isFinite, number > 0 else {
            throw .invalidParameter(path: path, message: "must be a number above 0")
        }
        return number
    }

    package static func boolean(_ value: JSONValue, path: String) throws(SourceError) -> Bool {
        guard case .bool(let flag) = value else {
            throw .invalidParameter(path: path, message: "must be true or false")
        }
        return flag
    }

    package static func string(_ value: JSONValue, path: String) throws(SourceError) -> String {
        guard case .string(let text) = value, !text.isEmpty else {
            throw .invalidParameter(path: path, message: "must be a string that is not empty")
        }
        return text
    }

    package static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ value: JSONValue, path: String
    ) throws(SourceError) -> Choice {
        guard case .string(let text) = value, let choice = Choice(rawValue: text) else {
            let names = Choice.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            throw .invalidParameter(path: path, message: "must be one of \(names)")
        }
        return choice
    }
}

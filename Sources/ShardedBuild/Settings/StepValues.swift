// SPDX-License-Identifier: MIT
import JSON

/// Values of steps and outcomes in their JSON.
enum StepValues {
    static func zooms(_ value: JSONValue) -> ClosedRange<Int>? {
        guard case .array(let zooms) = value, zooms.count == 2, case .number(let low) = zooms[0],
            case .number(let high) = zooms[1], low >= 0, low <= high, high <= 24
        else { return nil }
        return Int(low)...Int(high)
    }

    static func paths(_ value: JSONValue) -> [String]? {
        guard case .array(let values) = value else { return nil }
        let paths = values.compactMap { value -> String? in if case .string(let path) = value { path } else { nil } }
        return paths.count == values.count ? paths : nil
    }
}

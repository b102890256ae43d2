// SPDX-License-Identifier: MIT
import JSON

/// Writes positions.
enum Coordinates {
    /// Writes `[longitude,latitude]`, rounded to a number of decimals if one is given.
    static func write(
        _ longitude: Double, _ latitude: Double, precision: Int?, into bytes: inout ByteWriter
    ) {
        bytes.append("[")
        bytes.append(number: rounded(longitude, precision))
        bytes.append(",")
        bytes.append(number: rounded(latitude, precision))
        bytes.append("]")
    }

    static func rounded(_ number: Double, _ decimals: Int?) -> Double {
        decimals.map { number.rounded(decimals: $0) } ?? number
    }
}

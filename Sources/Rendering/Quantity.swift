// SPDX-License-Identifier: MIT
import JSON

/// Formats numbers for people.
public enum Quantity {
    /// With commas: 1,234,567.
    public static func grouped(_ number: Int) -> String {
        var digits = String(number.magnitude)
        var groups: [Substring] = []
        while digits.count > 3 {
            groups.insert(digits.suffix(3), at: 0)
            digits = String(digits.dropLast(3))
        }
        groups.insert(digits[...], at: 0)
        return (number < 0 ? "-" : "") + groups.joined(separator: ",")
    }

    /// 1 point, 2 points.
    public static func count(_ number: Int, _ noun: String) -> String {
        "\(grouped(number)) \(noun)\(number == 1 ? "" : "s")"
    }

    /// With commas if it is an integer; otherwise as JavaScript prints it.
    public static func plain(_ number: Double) -> String {
        if let whole = Int(exactly: number), abs(number) < 1e15 { return grouped(whole) }
        return String(javaScript: number)
    }

    /// 12.3 KiB, 171 MiB.
    public static func bytes(_ count: Double) -> String {
        scaled(count, step: 1024, units: ["B", "KiB", "MiB", "GiB", "TiB"])
    }

    /// 950, 12.3k, 1.2M.
    public static func short(_ count: Double) -> String {
        scaled(count, step: 1000, units: ["", "k", "M", "G", "T"], space: "")
    }

    private static func scaled(_ value: Double, step: Double, units: [String], space: String = " ") -> String {
        var value = value
        var unit = 0
        while abs(value) >= step - 0.05, unit < units.count - 1 {
            value /= step
            unit += 1
        }
        let digits = unit == 0 ? fixed(value, decimals: 0) : fixed(value, decimals: abs(value) < 99.95 ? 1 : 0)
        return units[unit].isEmpty ? digits : digits + space + units[unit]
    }

    /// 0.12 ms, 15 ms, 1.2 s, 3 min 20 s, 2 d 4 h.
    public static func duration(milliseconds: Double) -> String {
        if milliseconds < 10 { return fixed(milliseconds, decimals: 2) + " ms" }
        if milliseconds < 1000 { return fixed(milliseconds, decimals: 0) + " ms" }
        let seconds = milliseconds / 1000
        if seconds < 60 { return fixed(seconds, decimals: seconds < 10 ? 2 : 1) + " s" }
        guard let whole = Int(exactly: seconds.rounded()) else { return fixed(seconds, decimals: 0) + " s" }
        switch whole {
        case ..<3600: return "\(whole / 60) min \(whole % 60) s"
        case ..<86400: return "\(whole / 3600) h \(whole / 60 % 60) min"
        default: return "\(whole / 86400) d \(whole / 3600 % 24) h"
        }
    }

    /// Rounded to `decimals` decimals, all of them shown. Very large numbers are not rounded.
    public static func fixed(_ value: Double, decimals: Int) -> String {
        let power = (0..<decimals).reduce(1) { power, _ in power * 10 }
        guard let scaled = Int(exactly: (value * Double(power)).rounded()) else {
            return String(javaScript: value)
        }
        let sign = scaled < 0 ? "-" : ""
        let whole = String(scaled.magnitude / power.magnitude)
        guard decimals > 0 else { return sign + whole }
        let fraction = String(scaled.magnitude % power.magnitude)
        return sign + whole + "." + String(repeating: "0", count: decimals - fraction.count) + fraction
    }
}

// SPDX-License-Identifier: MIT
import ClusterClient
import JSON
import Rendering

/// The daemon's statistics for people, with rates if there is an earlier report.
struct StatsReport {
    private let value: JSONValue
    private let before: JSONValue?
    private let seconds: Double

    init(_ value: JSONValue, before: JSONValue?, seconds: Double) {
        self.value = value
        self.before = before
        self.seconds = seconds
    }

    func text(width: Int?, style: Style) -> String {
        var sections = [DescriptionList.text(scalars(value, ""), style: style)]
        for (name, list) in tables(value) {
            let table = self.table(name, list)
            if !table.rows.isEmpty { sections.append(table.text(width: width, style: style)) }
        }
        return sections.joined(separator: "\n")
    }

    /// Single values. Those within objects are listed by their path.
    private func scalars(_ value: JSONValue, _ path: String) -> [(name: String, value: String)] {
        (value.asObject?.members ?? []).flatMap { key, member -> [(name: String, value: String)] in
            let name = path.isEmpty ? key : "\(path).\(key)"
            if member.asArray != nil || isTable(member) { return [] }
            if member.asObject != nil { return scalars(member, name) }
            return [(name, describe(name, member) + rate(name, member))]
        }
    }

    /// Arrays of objects, and objects of objects, whose keys become the first column.
    private func tables(_ value: JSONValue) -> [(String, [JSONObject])] {
        (value.asObject?.members ?? []).compactMap { key, member in
            if let rows = member.asArray { return (key, rows.compactMap(\.asObject)) }
            guard isTable(member), let object = member.asObject else { return nil }
            return (
                key,
                object.members.map { name, row in
                    JSONObject([(key: "name", value: .string(name))]).with(row.asObject ?? [:])
                }
            )
        }
    }

    private func isTable(_ value: JSONValue) -> Bool {
        guard let object = value.asObject, !object.isEmpty else { return false }
        return object.members.allSatisfy { $0.value.asObject != nil }
    }

    private func table(_ title: String, _ rows: [JSONObject]) -> Table {
        let rows = rows.map(flattened)
        let keys = Self.keys(of: rows)
        var table = Table(
            keys.map { key in
                let isNumber = rows.contains { $0[key]?.asNumber != nil }
                return isNumber ? .number(heading(key)) : .text(heading(key))
            })
        for row in rows { table.add(keys.map { key in row[key].map { describe(key, $0) } ?? "" }) }
        return table
    }

    /// The keys of all rows. One that only later rows have comes after the one before it in these rows.
    private static func keys(of rows: [JSONObject]) -> [String] {
        var keys: [String] = []
        for row in rows {
            var next = 0
            for (key, value) in row.members where value.asArray == nil {
                if let index = keys.firstIndex(of: key) {
                    next = index + 1
                } else {
                    keys.insert(key, at: next)
                    next += 1
                }
            }
        }
        return keys
    }

    private func flattened(_ row: JSONObject) -> JSONObject {
        var flat: JSONObject = [:]
        for (key, value) in row.members {
            if let inner = value.asObject {
                for (name, member) in inner.members { flat["\(key).\(name)"] = member }
            } else {
                flat[key] = value
            }
        }
        return flat
    }

    private func heading(_ key: String) -> String { (key.split(separator: ".").last ?? "").uppercased() }

    private func describe(_ key: String, _ value: JSONValue) -> String {
        guard let number = value.asNumber else { return value.asString ?? value.text }
        let lower = key.lowercased()
        if lower.hasSuffix("bytes") || lower.hasPrefix("bytes") { return Quantity.bytes(number) }
        if lower.hasSuffix("seconds") { return Quantity.duration(milliseconds: number * 1000) }
        if lower.hasSuffix("micros") { return Quantity.duration(milliseconds: number / 1000) }
        if key.hasSuffix("Ms") || key.contains("Ms.") { return Quantity.duration(milliseconds: number) }
        return Quantity.plain(number)
    }

    /// A counter's growth per second; empty if it has not grown or is not a counter.
    private func rate(_ path: String, _ value: JSONValue) -> String {
        guard let now = value.asNumber, seconds > 0, !path.lowercased().contains("uptime"),
            let then = path.split(separator: ".").reduce(before, { $0?[String($1)] })?.asNumber, now > then
        else { return "" }
        return "  (+\(Quantity.short((now - then) / seconds))/s)"
    }
}

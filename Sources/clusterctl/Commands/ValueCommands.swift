// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import JSON
import Rendering

/// `clusterctl top`: the features with the greatest values of an indexed property.
enum TopCommand: Subcommand {
    static let hasFeatures = true
    static let table = Command(
        "top", summary: "Show the features in a box with the greatest values of an indexed property",
        details: ["The source needs the option --indexed-property."], operands: [.source],
        options: Option.params(of: .topFeatures, short: ClustersCommand.short, defaults: ClustersCommand.defaults),
        examples: [
            Example("clusterctl top cities --by population -n 5", "shows the world's five largest cities"),
            Example(
                "clusterctl top cities --by=-population -b 5,47,16,55 --window founded,1800,",
                "shows a country's smallest cities founded since 1800"),
        ])

    static func run(_ invocation: Invocation) async throws {
        let answer = try await invocation.call(.topFeatures)
        try invocation.show(answer) { _ in
            let features = try FeatureCollection(answer).features
            guard !features.isEmpty else { return invocation.remark("nothing there") }
            invocation.print(FeatureTable.table(features))
        }
    }
}

/// `clusterctl histogram`: how the values of an indexed property are distributed.
enum HistogramCommand: Subcommand {
    static let table = Command(
        "histogram", summary: "Show how the values of an indexed property are distributed in a box",
        details: [
            "The source needs the option --indexed-property. Without --bins and --edges there are "
                + "\(Int(standardBins)) bins.",
            "A bin has the values from its lower edge to below its upper edge; the last one includes its upper edge.",
        ], operands: [.source],
        options: Option.params(of: .getHistogram, short: ClustersCommand.short, defaults: ClustersCommand.defaults),
        examples: [
            Example("clusterctl histogram cities --property population --bins 8", "draws bars"),
            Example(
                "clusterctl histogram cities --property population --edges 0,1e5,1e6,1e7 --output csv",
                "prints counts by size"),
        ])

    private static let standardBins = 20.0
    private static let titles = ["FROM", "TO", "POINTS"]

    static func run(_ invocation: Invocation) async throws {
        let given = invocation.arguments
        let bins: JSONObject = given.has("bins") || given.has("edges") ? [:] : ["bins": .number(standardBins)]
        let answer = try await invocation.call(.getHistogram, with: bins)
        guard invocation.form != .csv else { return invocation.print(table(try answer.value(), width: nil)) }
        try invocation.show(answer) { value in
            invocation.print(table(value, width: Terminal.outputWidth ?? 80))
            let rest = ["below", "above", "missing"].compactMap { name -> String? in
                guard let count = value[name]?.asInteger, count > 0 else { return nil }
                return name == "missing"
                    ? "\(Quantity.count(count, "point")) without a value" : "\(Quantity.grouped(count)) \(name)"
            }
            if !rest.isEmpty { invocation.remark(rest.joined(separator: ", ")) }
        }
    }

    /// A row for each bin.
    ///
    /// - Parameter width: the columns that rows with bars may take; nil for no bars and whole numbers.
    static func table(_ histogram: JSONValue, width: Int?) -> Table {
        let edges = (histogram["edges"]?.asArray ?? []).compactMap(\.asNumber)
        let counts = (histogram["counts"]?.asArray ?? []).compactMap(\.asInteger)
        var rows = zip(zip(edges, edges.dropFirst()), counts).map { edges, count in
            width == nil
                ? [String(javaScript: edges.0), String(javaScript: edges.1), String(count)]
                : [Quantity.plain(edges.0), Quantity.plain(edges.1), Quantity.grouped(count)]
        }
        guard let width else { return table([], rows) }
        let columns = titles.enumerated().reduce(0) { sum, column in
            sum + 2 + rows.reduce(column.element.count) { max($0, DisplayWidth.of($1[column.offset])) }
        }
        let most = counts.reduce(1, max)
        for (index, count) in counts.enumerated() where index < rows.count {
            rows[index].append(Bar.text(Double(count) / Double(most), width: max(8, width - columns)))
        }
        return table([.text("")], rows)
    }

    private static func table(_ more: [Table.Column], _ rows: [[String]]) -> Table {
        var table = Table(titles.map { .number($0) } + more)
        for row in rows { table.add(row) }
        return table
    }
}

/// `clusterctl grid`: how many points lie in each square of a grid.
enum GridCommand: Subcommand {
    static let table = Command(
        "grid", summary: "Show how many points lie in each square of a grid",
        details: [
            "Squares are the map's tiles of a zoom. In a terminal that is wide enough they are drawn; darker ones have "
                + "more points."
        ], operands: [.source],
        options: Option.params(
            of: .getGrid, short: ["bbox": "b", "resolution": "r"],
            defaults: ["bbox": BoundingBox.worldName, "resolution": "5"]),
        examples: [
            Example("clusterctl grid cities", "draws where the cities are"),
            Example("clusterctl grid cities -r 8 -b -10,35,30,60 --output csv", "prints squares for a spreadsheet"),
        ])

    static func run(_ invocation: Invocation) async throws {
        let answer = try await invocation.call(.getGrid)
        if invocation.form == .csv { return invocation.print(table(cells(of: try answer.value()))) }
        try invocation.show(answer) { value in
            let cells = cells(of: value)
            guard !cells.isEmpty else { return invocation.remark("nothing there") }
            if let width = Terminal.outputWidth, let lines = GridPicture.lines(cells, width: width) {
                Terminal.write(lines.map { $0 + "\n" }.joined())
            } else {
                invocation.print(table(cells))
            }
            let total = cells.reduce(0) { $0 + $1.count }
            invocation.remark("\(Quantity.count(total, "point")) in \(Quantity.count(cells.count, "square"))")
        }
    }

    static func cells(of grid: JSONValue) -> [GridPicture.Cell] {
        (grid["cells"]?.asArray ?? []).compactMap { cell in
            guard let x = cell["x"]?.asInteger, let y = cell["y"]?.asInteger, let count = cell["point_count"]?.asInteger
            else { return nil }
            return GridPicture.Cell(x: x, y: y, count: count)
        }
    }

    private static func table(_ cells: [GridPicture.Cell]) -> Table {
        var table = Table([.number("X"), .number("Y"), .number("POINTS")])
        for cell in cells { table.add([String(cell.x), String(cell.y), String(cell.count)]) }
        return table
    }
}

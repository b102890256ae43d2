// SPDX-License-Identifier: MIT
import GeoJSON
import JSON
import SourceEngine
import SystemSupport

/// A step that reads inputs, or ranges of them, one after another.
///
/// Of its files, `OUTPUT.json` is written last. In all of them rows are numbered from 0, and so are the places in the
/// texts and the values of `partitionBy`.
struct IntakeStep: BuildStep {
    /// A part of an input.
    struct Piece: Sendable {
        let input: BuildInput
        /// A range of its bytes, at offsets of `FeatureCuts`; nil for all.
        let range: Range<Int>?
    }

    /// How features are read besides what the source's options say.
    struct Rules: Sendable {
        var policy = InvalidFeaturePolicy.reject
        var format = FeatureFormat()
        var wrapsLongitudes = false
    }

    /// The file with the source's options, as JSON.
    let options: String
    let rules: Rules
    let pieces: [Piece]
    let output: IntakeFiles
    /// In bytes.
    let memory: Int
    let threads: Int

    var title: String { "reading features" }

    func run() throws(BuildError) {
        // Another attempt was faster.
        if FileIO.exists(output.summary) { return }
        let summary = try FeatureIntake(self, options: BuildFiles.sourceOptions(options)).run()
        try BuildFiles.write(summary.json, to: output.summary)
    }
}

extension IntakeStep {
    var json: JSONValue {
        .object([
            "options": .string(options), "output": .string(output.base), "pieces": .array(pieces.map(\.json)),
            "rules": rules.json, "memory": .number(Double(memory)), "threads": .number(Double(threads)),
        ])
    }

    /// Nil if a member is missing or of another type.
    init?(_ value: JSONValue, opening: BuildInput.Opening) {
        guard case .object(let object) = value, case .string(let options)? = object["options"],
            case .string(let output)? = object["output"], case .array(let pieces)? = object["pieces"],
            case .number(let memory)? = object["memory"], case .number(let threads)? = object["threads"],
            let memory = Int(exactly: memory), let threads = Int(exactly: threads), threads > 0,
            let rules = object["rules"].flatMap({ Rules($0) })
        else { return nil }
        let read = pieces.compactMap { Piece($0, opening: opening) }
        guard read.count == pieces.count else { return nil }
        self.init(
            options: options, rules: rules, pieces: read, output: IntakeFiles(base: output), memory: memory,
            threads: threads)
    }
}

extension IntakeStep.Piece {
    fileprivate var json: JSONValue {
        var object: JSONObject = [
            "input": .string(input.name), "arguments": .array(input.arguments.map { .string($0) }),
        ]
        if let range {
            object["range"] = .array([.number(Double(range.lowerBound)), .number(Double(range.upperBound))])
        }
        return .object(object)
    }

    fileprivate init?(_ value: JSONValue, opening: BuildInput.Opening) {
        guard case .object(let object) = value, case .string(let name)? = object["input"],
            case .array(let arguments)? = object["arguments"]
        else { return nil }
        let words = arguments.compactMap { if case .string(let word) = $0 { word } else { nil } }
        guard words.count == arguments.count, let input = opening(name, words) else { return nil }
        var range: Range<Int>?
        if let given = object["range"] {
            guard case .array(let ends) = given, ends.count == 2, case .number(let low) = ends[0],
                case .number(let high) = ends[1], let low = Int(exactly: low), let high = Int(exactly: high),
                low >= 0, low <= high
            else { return nil }
            range = low..<high
        }
        self.init(input: input, range: range)
    }
}

extension IntakeStep.Rules {
    var json: JSONValue {
        let table = format.table
        var object: JSONObject = [
            "skips": .bool(policy == .skip), "wraps": .bool(wrapsLongitudes),
            "text": .array(table.text.sorted().map { .string($0) }),
        ]
        for (name, column) in [("longitude", table.longitude), ("latitude", table.latitude), ("id", table.id)] {
            if let column { object[name] = .string(column) }
        }
        if let delimiter = table.delimiter { object["delimiter"] = .number(Double(delimiter)) }
        return .object(object)
    }

    fileprivate init?(_ value: JSONValue) {
        guard case .object(let object) = value, case .bool(let skips)? = object["skips"],
            case .bool(let wraps)? = object["wraps"], case .array(let text)? = object["text"]
        else { return nil }
        func column(_ name: String) -> String? { if case .string(let column)? = object[name] { column } else { nil } }
        var table = TableColumns(
            longitude: column("longitude"), latitude: column("latitude"), id: column("id"),
            text: Set(text.compactMap { if case .string(let name) = $0 { name } else { nil } }))
        if case .number(let delimiter)? = object["delimiter"] { table.delimiter = UInt8(exactly: delimiter) }
        self.init(policy: skips ? .skip : .reject, format: FeatureFormat(table: table), wrapsLongitudes: wraps)
    }
}

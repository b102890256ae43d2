// SPDX-License-Identifier: MIT

/// JSON texts made at random: spaces, escapes, decoys under equal keys, orders of members, numbers of all kinds.
enum MessageText {
    /// Writes an object whose members have just these values, whatever else there is about it.
    static func object(_ members: [(String, String)], _ random: inout SeededRandom) -> [UInt8] {
        var written = members.shuffled(using: &random)
        if random.once(in: 5), let index = written.indices.randomElement(using: &random) {
            // The last of equal keys counts.
            let decoy = (written[index].0, value(&random, depth: 2))
            written.insert(decoy, at: random.below(index + 1))
        }
        var text = space(&random) + "{"
        for (index, member) in written.enumerated() {
            if index > 0 { text += "," }
            text += space(&random) + "\"\(key(member.0, &random))\"" + space(&random) + ":" + space(&random)
            text += member.1 + space(&random)
        }
        return Array((text + "}" + space(&random)).utf8)
    }

    static func params(_ random: inout SeededRandom) -> String {
        var members = (0..<random.below(4)).map { _ in
            "\"\(random.pick(["a", "source", "bbox", "", "features", #"\u0000"#, "é", "😀"]))\":"
                + value(&random, depth: 1)
        }
        members.shuffle(using: &random)
        return "{" + members.joined(separator: ",") + "}"
    }

    static func value(_ random: inout SeededRandom, depth: Int) -> String {
        switch random.below(depth > 5 ? 6 : 9) {
        case 0: return random.pick(["true", "false", "null"])
        case 1: return String(Int64.random(in: .min ... .max, using: &random))
        case 2: return random.pick(["0", "-0", "1e308", "-1.7976931348623157e308", "5e-324", "1e-999"])
        case 3: return "\(Double(random.below(1 << 30)) / 1024)"
        case 4:
            return random.pick(["\"\"", #""\ud83d\ude00""#, #""\"\\\/\b\f\n\r\t\u0000""#, "\"é😀\u{7F}\""])
        case 5: return "\"" + String(repeating: "x", count: random.below(80)) + "\""
        case 6:
            let elements = (0..<random.below(4)).map { _ in value(&random, depth: depth + 1) }
            return "[" + elements.joined(separator: ",") + "]"
        case 7:
            let members = (0..<random.below(4)).map { "\"k\($0 % 2)\":" + value(&random, depth: depth + 1) }
            return "{" + members.joined(separator: ",") + "}"
        default:
            let nesting = random.below(50)
            return String(repeating: "[", count: nesting) + String(repeating: "]", count: nesting)
                + (nesting == 0 ? "0" : "")
        }
    }

    /// A key as it is, or with one of its letters escaped.
    private static func key(_ name: String, _ random: inout SeededRandom) -> String {
        guard random.once(in: 6), let first = name.unicodeScalars.first else { return name }
        let digits = String(first.value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits + name.dropFirst()
    }

    private static func space(_ random: inout SeededRandom) -> String {
        random.once(in: 6) ? random.pick([" ", "\n", "\t\r ", "  "]) : ""
    }
}

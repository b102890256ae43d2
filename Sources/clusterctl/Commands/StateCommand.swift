// SPDX-License-Identifier: MIT
import CommandLineOptions
import JSON
import StateTools

/// `clusterctl state`: checks, salvages or converts the files of a state directory, without the daemon.
enum StateCommand: Subcommand {
    private enum Action: String, CaseIterable { case check, salvage, upgrade }

    static let table = Command(
        "state", summary: "Check or upgrade a state directory, or salvage a damaged source",
        details: [
            "check reads all bytes of all sources, or of one, and says which files are damaged and where. It changes "
                + "nothing and works while the daemon runs. The exit status is 1 if a file is not intact.",
            "salvage writes the features that can still be read, one to a line: those of the newest snapshot, with the "
                + "changes of the journals after it. Features from a damaged page that are valid GeoJSON are "
                + "among them; a byte within their texts may be wrong.",
            "upgrade converts the files of clusterd 0.2.0, once, while no daemon uses them. Sources keep their data, and "
                + "clusters their ids. The old files are kept in DIR/before-upgrade.",
        ],
        operands: [
            Operand("ACTION", kind: .oneOf(Action.allCases.map(\.rawValue)), help: "what to do"),
            Operand("DIR", kind: .file, help: "the daemon's state directory"),
            Operand("SOURCE", count: .optional, help: "one source; salvage requires it"),
        ],
        options: [
            Option(
                "to", short: "o", value: "FILE", kind: .file,
                defaultInWords: "standard output", help: "the file that salvage writes"),
            .flag("verified-only", help: "salvage only features whose checksums are right"),
        ],
        examples: [
            Example("clusterctl state check /var/lib/clusterd", "checks all sources"),
            Example(
                "clusterctl state salvage /var/lib/clusterd cities -o cities.geojsonl",
                "writes what is left of a damaged source"),
            Example("clusterctl state upgrade /var/lib/clusterd", "converts the state of an older release"),
        ])

    static func run(_ invocation: Invocation) async throws {
        let directory = try invocation.operand(1)
        switch Action(rawValue: try invocation.operand(0)) {
        case .check: try check(invocation, directory)
        case .salvage: try salvage(invocation, directory)
        case .upgrade: try upgrade(invocation, directory)
        case nil: throw invocation.arguments.usageError("unknown action")
        }
    }

    private static func upgrade(_ invocation: Invocation, _ directory: String) throws {
        let files = try StateUpgrade.run(directory)
        for file in files { invocation.print(file) }
        if files.isEmpty { invocation.print("all files are of the current format") }
    }

    private static func check(_ invocation: Invocation, _ directory: String) throws {
        let names = try invocation.arguments.operand(2).map { [$0] } ?? StateCheck.sources(in: directory)
        var findings: [StateCheck.Finding] = []
        for name in names { findings += try StateCheck.check(name, in: directory) }
        invocation.show(.array(findings.map(json))) {
            var table = Table([.text("SOURCE"), .text("FILE"), .text("STATE"), .flexible("FOUND")])
            for finding in findings {
                table.add([finding.source, finding.file, finding.condition.rawValue, finding.message])
            }
            invocation.print(table)
        }
        let bad = findings.count { $0.condition != .intact }
        if bad > 0 { throw Failure(message: "\(bad) of \(findings.count) files are not intact") }
    }

    private static func json(_ finding: StateCheck.Finding) -> JSONValue {
        var object = JSONObject()
        object["source"] = .string(finding.source)
        object["file"] = .string(finding.file)
        object["state"] = .string(finding.condition.rawValue)
        if let bytes = finding.bytes {
            object["bytes"] = .array([.number(Double(bytes.lowerBound)), .number(Double(bytes.upperBound))])
        }
        if !finding.message.isEmpty { object["message"] = .string(finding.message) }
        return .object(object)
    }

    private static func salvage(_ invocation: Invocation, _ directory: String) throws {
        guard let source = invocation.arguments.operand(2) else {
            throw invocation.arguments.usageError("salvage requires a SOURCE")
        }
        let salvage = try Salvage(source, in: directory)
        let verifiedOnly = invocation.arguments.has("verified-only")
        var text: [UInt8] = []
        salvage.write(verifiedOnly: verifiedOnly) { text += $0 }
        if let path = invocation.arguments.string("to") {
            try OutputFile.write(text, to: path)
        } else {
            Terminal.write(text)
        }
        for note in salvage.notes { invocation.remark(note) }
        let unverified = verifiedOnly ? "left out" : "written"
        invocation.remark(
            "\(source): \(salvage.verifiedCount) features, \(salvage.unverifiedCount) from damaged blocks (\(unverified)), "
                + "\(salvage.lostCount) lost")
    }
}

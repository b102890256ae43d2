// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@Suite("The architecture's page") struct ArchitectureTests {
    private static let root = Repository.root

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The page's modules in order, with what they import.
    private static func documented() throws -> [(module: String, imports: Set<String>)] {
        let table = try text("docs/architecture.md").components(separatedBy: "## Modules")[1]
            .components(separatedBy: "\n## ")[0]
        return table.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { row in
            let cells = row.dropFirst().dropLast().components(separatedBy: " | ")
            let name = cells[0].trimmingCharacters(in: CharacterSet(charactersIn: "`| "))
            let imports = cells[2].components(separatedBy: ",")
                .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
            return (name, Set(imports))
        }
    }

    /// The manifest's targets under Sources/ that are not C, with their dependencies.
    private static func declared() throws -> [String: Set<String>] {
        let manifest = try text("Package.swift")
        var targets: [String: Set<String>] = [:]
        for part in manifest.components(separatedBy: "arget(").dropFirst() {
            let head = part.components(separatedBy: "path: \"Tests")[0]
            let strings = head.components(separatedBy: "\"")
            guard strings.count > 1, head.contains("name:"), !strings[1].hasSuffix("Tests"),
                // C modules are named CLibuv and the like.
                !strings[1].hasPrefix("C") || strings[1].dropFirst().first?.isLowercase == true
            else { continue }
            guard
                FileManager.default.fileExists(
                    atPath: root.appendingPathComponent("Sources/" + strings[1]).path)
            else { continue }
            let list = head.components(separatedBy: "dependencies: [").dropFirst().first?
                .components(separatedBy: "]")[0]
            let names = (list ?? "").components(separatedBy: "\"").enumerated()
                .filter { $0.offset % 2 == 1 }.map(\.element)
            targets[strings[1]] = Set(names)
        }
        return targets
    }

    @Test("names every module with exactly its imports in the manifest") func modulesAgree() throws {
        let declared = try Self.declared()
        let documented = try Self.documented()
        #expect(declared.count > 15)
        #expect(Set(documented.map(\.module)) == Set(declared.keys))
        for (module, imports) in documented {
            #expect(declared[module] == imports, "\(module)")
        }
    }

    @Test("lists a module above all that it imports") func nothingImportsUpwards() throws {
        let documented = try Self.documented()
        let rows = Dictionary(uniqueKeysWithValues: documented.enumerated().map { ($1.module, $0) })
        for (row, (module, imports)) in documented.enumerated() {
            for name in imports {
                if let other = rows[name] { #expect(other > row, "\(module) imports \(name)") }
            }
        }
    }
}

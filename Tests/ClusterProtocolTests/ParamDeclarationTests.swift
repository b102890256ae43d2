// SPDX-License-Identifier: MIT
import ClusterProtocol
import Foundation
import JSON
import Testing

@Suite("Declarations of params") struct ParamDeclarationTests {
    private static let methods = MethodDeclaration.all + [.describeTiles, .explainAccess]

    @Test("a default is a value of the param's type, and required params have none") func defaults() {
        for param in Self.methods.flatMap({ $0.params + $0.items }) {
            if param.isRequired { #expect(param.shownStandard == nil, "\(param.name)") }
            switch (param.standard, param.type) {
            case (nil, _), (.bool?, .boolean), (_, .value): break
            case (.string(let word)?, .word(let words)): #expect(words.contains(word), "\(param.name)")
            case (.number(let number)?, .integer(let range)):
                #expect(Int64(exactly: number).map(range.contains) == true, "\(param.name)")
            case (.number(let number)?, .number(let range?)): #expect(range.contains(number), "\(param.name)")
            default: Issue.record("\(param.name) has the default \(param.standard?.text ?? "")")
            }
        }
    }

    @Test("a method has each name once, and its help is one line without a full stop") func names() {
        for method in Self.methods {
            #expect(Set(method.paramNames).count == method.params.count, "\(method.name)")
            for param in method.params {
                let first = param.help.first.map(String.init) ?? ""
                #expect(!param.help.hasSuffix("."), "\(param.name): \(param.help)")
                #expect(!param.help.contains("\n"), "\(param.name)")
                #expect(first == first.lowercased() || first == "J", "\(param.name): \(param.help)")
            }
        }
    }

    @Test("a text in a query string or flag is a value of the type, else it stays a text") func texts() throws {
        let expected: [(ParamType, String, String)] = [
            (.count, "7", "7"), (.number(nil), "-2.5e1", "-25"), (.boolean, "true", "true"),
            (.boolean, "yes", "\"yes\""), (.box, "1,2,,x", "[1,2,\"\",\"x\"]"),
            (.strings, "a,b c", "[\"a\",\"b c\"]"), (.strings, "", "[]"), (.featureIDs, "1,b", "[1,\"b\"]"),
            (.expression, "[\"zoom\"]", "[\"zoom\"]"), (.string, "7", "\"7\""),
        ]
        for (type, text, json) in expected {
            #expect(try type.value(of: text).text == json, "\(type) \(text)")
        }
        for text in ["", "x", "07", "1.", ".5", "+1", "1e999", " 1"] {
            #expect(try ParamType.number(nil).value(of: text) == .string(text))
        }
        #expect(throws: JSONError.self) { try ParamType.expression.value(of: "[") }
    }

    @Test("types are named in words") func typesInWords() {
        #expect(ParamType.integer(0...15).name == "integer from 0 to 15")
        #expect(ParamType.count.name == "integer from 0")
        #expect(ParamType.number(0.5...2).name == "number from 0.5 to 2")
        #expect(ParamType.word(["a", "b", "c"]).name == "\"a\", \"b\" or \"c\"")
    }

    @Test("texts are kept for params whose values must not change") func keptTexts() {
        let kept = MethodDeclaration.all.filter { !$0.textParams.isEmpty }.map(\.name)
        #expect(kept == ["GetClusters", "GetTile", "LocateFeature", "WatchClusters", "UpdateFeatures"])
        #expect(MethodDeclaration.getClusters.textParams.map(\.name) == ["pin"])
    }
}

// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import SourceTestSupport
import TestSupport
import Testing

@testable import Responses
@testable import RPC

@Suite("Served methods") struct MethodSetTests {
    @Test("the served methods are those that are declared, and the one behind tiles.json") func complete() throws {
        let answers = KeptAnswers()
        let caller = try Caller(on: TestSource(), loop: HandLoop(), answers: answers)
        let served = caller.engine.methods.all.map(\.declaration.name)
        #expect(Set(served).count == served.count)
        #expect(Set(served) == Set(MethodDeclaration.all.map(\.name) + ["DescribeTiles", "ExplainAccess"]))
    }

    @Test("each word of include has an effect") func include() throws {
        guard case .words(let words) = ParamDeclaration.include.type else {
            Issue.record("include has no words")
            return
        }
        for word in words { #expect(ClusterDetails[word] != [], "\(word)") }
        #expect(words.count == ClusterDetails.byName.count)
    }

    @Test("a method reads each of its params, and names one whose value is of another type")
    func everyParamIsRead() throws {
        let (loop, answers) = (HandLoop(), KeptAnswers())
        let source = try TestSource(options: #"{"indexedProperties":{"x":["get","n"]}}"#)
        let caller = try Caller(on: source, loop: loop, answers: answers)
        var bytes = ByteWriter()
        var id: Int64 = 0
        for method in MethodDeclaration.all + [.describeTiles, .explainAccess] {
            for param in method.params where param.type != .value {
                // The directory is examined before the filter is compiled.
                if method.name == "PublishTiles", param === ParamDeclaration.filter { continue }
                var params = JSONObject()
                for other in method.params where other.isRequired {
                    params[other.name] = Self.value(of: other)
                }
                // One of two has to be given.
                if method.takes(.bins), param !== ParamDeclaration.edges { params["bins"] = 1 }
                params[param.name] = param.type == .object ? "x" : [:]
                id += 1
                let request = CallRequest(id: id, method: method.fullName, params: params)
                answers.errors = []
                do throws(RPCError) {
                    _ = try caller.open(request, by: caller.identity, as: BareEncoder(), into: &bytes)
                } catch { answers.errors = [error] }
                loop.step()
                let named = answers.errors.first?.details?["param"]
                #expect(named == .string("params.\(param.name)"), "\(method.name): \(answers.errors)")
            }
        }
    }

    /// A value of a param that its method accepts, as far as types go.
    private static func value(of param: ParamDeclaration) -> JSONValue {
        switch param.type {
        case .sourceName: "test"
        case .integer(let range): .number(Double(range.lowerBound))
        case .number, .revision: 1
        case .box: [0, 0, 1, 1]
        case .expression, .value: ["zoom"]
        case .object: [:]
        case .strings, .numbers, .words, .featureIDs, .features: []
        case .window: ["x": [0, 1]]
        case .word(let words): .string(words[0])
        case .boolean: false
        case .string, .featureID, .logPosition: "x"
        }
    }
}

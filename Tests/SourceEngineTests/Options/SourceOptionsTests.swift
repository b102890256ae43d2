// SPDX-License-Identifier: MIT
import JSON
import Testing

@testable import Responses
@testable import SourceEngine

private func read(_ text: String) throws -> SourceOptions {
    try SourceOptions(reading: JSONReader.parse(text))
}

@Suite("Source options") struct SourceOptionsTests {
    @Test("has supercluster's defaults") func hasSuperclustersDefaults() throws {
        let options = try SourceOptions(reading: nil)
        #expect(options.radius.byZoom == Array(repeating: 40, count: 25))
        #expect(options.extent == 512)
        #expect(options.minZoom == 0)
        #expect(options.maxZoom == 16)
        #expect(options.minPoints == 2)
        #expect(!options.generateId)
        #expect(options.precision == .float)
    }

    @Test(
        "names what is wrong",
        arguments: [
            ("{\"radius\":-1}", "options.radius"), ("{\"radius\":\"40\"}", "options.radius"),
            ("{\"radius\":[\"step\",[\"zoom\"],60,6,-1]}", "options.radius"),
            ("{\"radius\":[\"get\",\"x\"]}", "options.radius"), ("{\"extent\":0}", "options.extent"),
            ("{\"extent\":1.5}", "options.extent"), ("{\"minZoom\":-1}", "options.minZoom"),
            ("{\"maxZoom\":25}", "options.maxZoom"), ("{\"maxZoom\":3.5}", "options.maxZoom"),
            ("{\"minZoom\":9,\"maxZoom\":8}", "options.minZoom"), ("{\"minPoints\":0}", "options.minPoints"),
            ("{\"generateId\":1}", "options.generateId"), ("{\"precision\":\"half\"}", "options.precision"),
            ("{\"promoteId\":7}", "options.promoteId"), ("{\"ttlSeconds\":0}", "options.ttlSeconds"),
            ("{\"colour\":1}", "options.colour"), ("{\"clusterProperties\":[]}", "options.clusterProperties"),
            ("[]", "options"),
        ])
    func namesWhatIsWrong(_ text: String, _ path: String) throws {
        let error = try #require(throws: SourceError.self) { try read(text) }
        guard case .invalidParameter(path, _) = error else {
            guard case .invalidExpression(path, _) = error else {
                Issue.record("\(error)")
                return
            }
            return
        }
    }

    @Test(
        "refuses what does not compile",
        arguments: [
            "{\"filter\":[\"nope\"]}", "{\"filter\":[\">\",1]}", "{\"filter\":[\"zoom\"]}",
            "{\"weight\":\"heavy\"}",
            "{\"clusterProperties\":{\"sum\":[\"+\",[\"accumulated\"]]}}",
            "{\"clusterProperties\":{\"sum\":[\"+\",[\"get\"]]}}", "{\"partitionBy\":[\"nope\"]}",
        ])
    func refusesWhatDoesNotCompile(_ text: String) throws {
        let error = try #require(throws: SourceError.self) { try read(text) }
        guard case .invalidExpression(let path, let errors) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(path.hasPrefix("options."))
        #expect(!errors.isEmpty)
    }

    @Test("evaluates the radius for each zoom") func worksARadiusOutForEachZoom() throws {
        let options = try read("{\"radius\":[\"step\",[\"zoom\"],60,6,40,12,20]}")
        #expect(options.radius.byZoom[0] == 60)
        #expect(options.radius.byZoom[5] == 60)
        #expect(options.radius.byZoom[6] == 40)
        #expect(options.radius.byZoom[12] == 20)
        #expect(options.radius.byZoom[24] == 20)
    }

    @Test(
        "writes options that read back the same",
        arguments: [
            "{}",
            "{\"radius\":60,\"extent\":256,\"minZoom\":1,\"maxZoom\":20,\"minPoints\":5,\"generateId\":true}",
            "{\"precision\":\"double\",\"promoteId\":\"code\",\"ttlSeconds\":60,\"weight\":[\"get\",\"w\"]}",
            "{\"clusterProperties\":{\"b\":[\"+\",[\"get\",\"b\"]],\"a\":[\"max\",[\"get\",\"a\"]]}}",
            "{\"filter\":[\"has\",\"x\"],\"partitionBy\":[\"get\",\"kind\"]}",
        ])
    func tellsWhatItReadsAgain(_ text: String) throws {
        let options = try read(text)
        let again = try SourceOptions(reading: options.json)
        #expect(again.json == options.json)
        guard case .object(let given) = try JSONReader.parse(text), case .object(let told) = options.json else {
            Issue.record("not an object")
            return
        }
        for (name, value) in given.members { #expect(told[name] == value) }
    }

    @Test("null is refused and named", arguments: SourceOption.all.map(\.name)) func null(_ name: String) throws {
        let error = #expect(throws: SourceError.self) { try read("{\"\(name)\":null}") }
        #expect(error.map { "\($0)" }?.hasPrefix("params.options.\(name): ") == true)
    }
}

// SPDX-License-Identifier: MIT
import JSON
import Testing

@testable import Expressions

@Suite("MapLibre's older filters") struct OlderFilterTests {
    @Test(
        "mean expressions",
        arguments: [
            (#"["==","country","Germany"]"#, #"["==",["get","country"],"Germany"]"#),
            (#"["<=","population",1000]"#, #"["<=",["get","population"],1000]"#),
            (#"[">",5,"population"]"#, #"[">",5,["get","population"]]"#),
            (#"["!=","$type","Point"]"#, #"["!=",["geometry-type"],"Point"]"#),
            (#"["==","$id",7]"#, #"["==",["id"],7]"#),
            (#"["in","kind","a","b"]"#, #"["in",["get","kind"],["literal",["a","b"]]]"#),
            (#"["!in","kind",1]"#, #"["!",["in",["get","kind"],["literal",[1]]]]"#),
            (#"["!has","kind"]"#, #"["!",["has","kind"]]"#),
            (
                #"["all",["has","a"],["none",["==","b",1],[">",["get","c"],2]]]"#,
                #"["all",["has","a"],["!",["any",["==",["get","b"],1],[">",["get","c"],2]]]]"#
            ),
        ])
    func meaning(_ filter: String, _ meant: String) throws {
        #expect(OlderFilter.meant(by: try JSONReader.parse(filter)) == meant)
        _ = try Expression(compiling: JSONReader.parse(meant), expected: .boolean, purpose: .filter)
    }

    @Test(
        "are told from expressions",
        arguments: [
            #"["==",["get","country"],"Germany"]"#, #"["==",1,2]"#, #"["in","a",["get","tags"]]"#,
            #"["has","a"]"#,
            #"["all",["<",["zoom"],5],true]"#, #"["==",["typeof",["get","a"]],"string"]"#, "true", #""text""#,
            "[]",
            #"["==","a"]"#, #"["in","a"]"#, #"["!has",["get","a"]]"#, #"["literal",["==","a","b"]]"#,
        ])
    func expressions(_ filter: String) throws {
        #expect(OlderFilter.meant(by: try JSONReader.parse(filter)) == nil)
    }

    @Test("have no advice that is longer than a message should be") func long() throws {
        let name = String(repeating: "n", count: 500)
        #expect(OlderFilter.meant(by: .array([.string("=="), .string(name), .number(1)])) == nil)
    }
}

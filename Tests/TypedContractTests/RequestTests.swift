// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Testing

@testable import TypedContract

@Suite("Requests by protobuf") struct RequestTests {
    @Test(
        "requests made by protobuf's own classes are read as the JSON contract has them",
        .enabled(if: ProtobufOracle.isAvailable, "\(ProtobufOracle.reason)"))
    func requests() throws {
        let cases = try ProtobufOracle.lines("requests.py")
        #expect(cases.count > 80)
        for item in cases {
            let method = try #require(TypedMethod.named(item["method"]?.string ?? ""))
            let message = ProtobufOracle.bytes(hexadecimal: item["hex"]?.string ?? "")
            Self.check(item, method, message)
        }
        let covered = Set(cases.compactMap { $0["method"]?.string })
        #expect(covered == Set(TypedMethod.all.map(\.fullName)))
    }

    private static func check(_ item: JSONValue, _ method: TypedMethod, _ message: [UInt8]) {
        let comment = Comment(rawValue: item.text)
        do throws(RPCError) {
            switch try method.read(message.span) {
            case .open(let params, let text, let structProperties):
                #expect(.object(params) == item["open"], comment)
                #expect(String(decoding: text, as: UTF8.self) == item["text"]?.string ?? "", comment)
                #expect(.bool(structProperties) == item["struct"], comment)
            case .item(let text):
                #expect(String(decoding: text, as: UTF8.self) == item["item"]?.string, comment)
                #expect(throws: Never.self, comment) { try JSONReader.parse(text) }
            case .geoJSON(let text):
                // The oracle has features as an item.
                let features = item["item"]?.string.map { String($0.dropFirst(#"{"features":"#.count).dropLast()) }
                #expect(String(decoding: text, as: UTF8.self) == features ?? item["geojson"]?.string, comment)
            }
        } catch {
            #expect(error.code == .invalidArgument, comment)
            #expect(error.message == item["error"]?.string, comment)
        }
    }

    @Test("a method knows what streams and whether it changes anything") func kinds() throws {
        let expected = Dictionary(
            uniqueKeysWithValues: MethodDeclaration.all.map { ($0.fullName, $0) })
        #expect(TypedMethod.all.count == 26)
        for method in TypedMethod.all {
            guard let declaration = expected[method.fullName] else { continue }
            #expect(method.clientStreams == declaration.kind.takesItems, "\(method.fullName)")
            #expect(
                method.serverStreams == (declaration.kind == .serverStream || declaration.kind == .both),
                "\(method.fullName)")
            if method.hasNoSideEffects { #expect(!declaration.isChange, "\(method.fullName)") }
        }
        #expect(Set(expected.keys).isSubset(of: TypedMethod.all.map(\.fullName)))
        #expect(TypedMethod.named("clusterd.v1.ClusterService/GetClusters")?.hasNoSideEffects == true)
        #expect(TypedMethod.named("clusterd.v1.ClusterService/Nothing") == nil)
        #expect(TypedMethod.named("grpc.health.v1.Health/Check") == nil)
    }

    /// Params that no message has: over gRPC they are not offered.
    private static let onlyInJSON: Set<String> = ["PublishTiles.estimate"]

    @Test("every param of the JSON contract has a field") func everyParamHasAField() throws {
        for declaration in MethodDeclaration.all {
            let method = try #require(TypedMethod.named(declaration.fullName))
            let plan =
                declaration.kind.takesItems
                ? try #require(method.request.field(named: "open")?.plan) : method.request
            var members = Self.members(of: plan)
            if method.clientStreams { members.formUnion(method.request.fields.flatMap { Self.members(of: $0.plan) }) }
            for param in declaration.params + declaration.items {
                // Items are not tables.
                if declaration.name == "ImportFeatures", ParamDeclaration.table.contains(where: { $0 === param }) {
                    continue
                }
                let name = "\(declaration.name).\(param.name)"
                #expect(members.contains(param.name) || Self.onlyInJSON.contains(name), "\(name)")
            }
        }
    }

    private static func members(of plan: MessagePlan) -> Set<String> {
        plan.fields.reduce(into: []) { members, field in
            if case .flattened = field.shape {
                members.formUnion(Self.members(of: field.plan))
            } else {
                members.insert(field.member)
            }
        }
    }

    @Test("each word of a param is a value of its enumeration") func words() throws {
        for declaration in MethodDeclaration.all {
            let method = try #require(TypedMethod.named(declaration.fullName))
            for param in declaration.params {
                let words: [String]
                switch param.type {
                case .word(let list), .words(let list): words = list
                default: continue
                }
                let plan = method.request.field(named: "open")?.plan ?? method.request
                let fields = plan.fields + plan.fields.flatMap { $0.shape.isFlattened ? $0.plan.fields : [] }
                let field = try #require(fields.first { $0.member == param.name })
                #expect(Set(words).isSubset(of: field.words.compactMap(\.word)), "\(declaration.name).\(param.name)")
            }
        }
    }
}

extension Shape {
    fileprivate var isFlattened: Bool { if case .flattened = self { true } else { false } }
}

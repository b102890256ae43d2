// SPDX-License-Identifier: MIT
import ClusterProtocol
import Testing

@Suite("Contract") struct ContractTests {
    @Test(
        "status codes have gRPC's numbers and names",
        arguments: zip(
            [
                "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
                "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED",
                "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
            ], 0...16))
    func codes(_ name: String, _ number: Int) {
        #expect(StatusCode(number: number)?.name == name)
        #expect(StatusCode.allCases.count == 17)
    }

    @Test("every method is declared once") func everyMethodIsThereOnce() {
        let names = MethodDeclaration.all.map(\.fullName)
        #expect(Set(names).count == names.count)
        #expect(names.contains("clusterd.v1.ClusterService/GetClusterExpansionZoom"))
        let streams = Set(
            MethodDeclaration.all.filter { $0.kind != .unary }.map { "\($0.name) \($0.kind.rawValue)" })
        #expect(
            streams.isSuperset(of: [
                "WatchClusters both", "ImportFeatures client stream", "PublishTiles server stream",
                "GetFeatures server stream",
            ]))
    }

    @Test("the socket is searched for in the contract's order") func looksForSocketInOrder() {
        let all = ["CLUSTERD_SOCKET": "/b", "XDG_RUNTIME_DIR": "/c"]
        #expect(SocketPath.resolve(option: "/a") { all[$0] } == "/a")
        #expect(SocketPath.resolve(option: nil) { all[$0] } == "/b")
        #expect(SocketPath.resolve(option: "") { $0 == "XDG_RUNTIME_DIR" ? "/c" : nil } == "/c/clusterd.sock")
        #expect(SocketPath.resolve(option: nil) { _ in "" } == "/run/clusterd/clusterd.sock")
        #expect(SocketPath.resolve(option: nil) { _ in nil } == "/run/clusterd/clusterd.sock")
    }

    @Test("a client tries the session's socket, then the system's") func triesSessionSocketFirst() {
        let all = ["CLUSTERD_SOCKET": "/b", "XDG_RUNTIME_DIR": "/c"]
        #expect(SocketPath.candidates(option: "/a") { all[$0] } == ["/a"])
        #expect(SocketPath.candidates(option: nil) { all[$0] } == ["/b"])
        #expect(
            SocketPath.candidates(option: nil) { $0 == "XDG_RUNTIME_DIR" ? "/c" : "" }
                == ["/c/clusterd.sock", "/run/clusterd/clusterd.sock"])
        #expect(SocketPath.candidates(option: nil) { _ in nil } == ["/run/clusterd/clusterd.sock"])
    }

    @Test("an invalid param is named") func aBadParamIsNamed() {
        let error = RPCError.invalidParam("params.bbox[2]", "must be a number.")
        #expect(error.code == .invalidArgument)
        #expect(error.message == "params.bbox[2] must be a number.")
        #expect(error.details == ["param": .string("params.bbox[2]")])
    }
}

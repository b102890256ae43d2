// SPDX-License-Identifier: MIT
import ClusterProtocol
import Testing

@testable import ClusterClient

@Suite("Call table") struct CallTableTests {
    private var table = CallTable<String>()

    private mutating func open(_ name: String, _ kind: MethodDeclaration.Kind = .unary) -> Int64 {
        guard case .open(let id) = table.open(name, kind: kind) else { return -1 }
        return id
    }

    @Test("answers in any order find their calls") mutating func matchesAnswersToCalls() {
        let ids = ["a", "b", "c"].map { open($0) }
        #expect(ids == [1, 2, 3])
        #expect(table.receiveLast(id: 2) == .finish("b"))
        #expect(table.receiveLast(id: 3) == .finish("c"))
        #expect(table.receiveLast(id: 1) == .finish("a"))
        #expect(table.count == 0)
    }

    @Test("a stream delivers until its end") mutating func aStreamDeliversUntilItsEnd() {
        let id = open("s", .serverStream)
        #expect(table.receiveItem(id: id) == .deliver("s"))
        #expect(table.receiveItem(id: id) == .deliver("s"))
        #expect(table.receiveLast(id: id) == .finish("s"))
        guard case .violation = table.receiveItem(id: id) else {
            Issue.record("an item after the end was accepted")
            return
        }
    }

    @Test("an item for a call without stream breaks the protocol") mutating func refusesItemOutsideStream() {
        let id = open("u")
        guard case .violation(let error) = table.receiveItem(id: id) else {
            Issue.record("accepted")
            return
        }
        #expect(error.code == .internal)
    }

    @Test("an answer to no call breaks the protocol") mutating func anAnswerToNoCallBreaksTheProtocol() {
        guard case .violation = table.receiveLast(id: 9) else {
            Issue.record("accepted")
            return
        }
    }

    @Test("a cancelled call keeps its ID until the server ends it")
    mutating func aCancelledCallKeepsItsIDUntilTheServerEndsIt() {
        let id = open("u", .both)
        #expect(table.cancel(id: id) == .sendCancel("u"))
        #expect(table.cancel(id: id) == .nothing)
        #expect(table.receiveItem(id: id) == .ignore)
        #expect(table.sendItem(id: id) == .drop)
        #expect(table.count == 1)
        #expect(table.receiveLast(id: id) == .ignore)
        #expect(table.count == 0)
    }

    @Test("cancelling a call that is over sends nothing") mutating func cancellingACallThatIsOverSendsNothing() {
        let id = open("u")
        _ = table.receiveLast(id: id)
        #expect(table.cancel(id: id) == .nothing)
    }

    @Test("items are sent until the client ends its stream") mutating func itemsAreSentUntilTheClientEndsItsStream() {
        let id = open("i", .clientStream)
        #expect(table.sendItem(id: id) == .send)
        #expect(table.endItems(id: id) == .send)
        #expect(table.sendItem(id: id) == .drop)
        #expect(table.endItems(id: id) == .drop)
        #expect(table.receiveLast(id: id) == .finish("i"))
    }

    @Test("a call without client stream sends no items") mutating func aCallWithoutClientStreamSendsNoItems() {
        let id = open("u")
        #expect(table.sendItem(id: id) == .drop)
        #expect(table.endItems(id: id) == .drop)
    }

    @Test("a refused import takes no more items") mutating func stopsItemsAfterRefusal() {
        let id = open("i", .clientStream)
        #expect(table.receiveLast(id: id) == .finish("i"))
        #expect(table.sendItem(id: id) == .drop)
    }

    @Test("a lost connection ends all calls and refuses new ones") mutating func lostConnectionEndsAllCalls() {
        let ids = ["a", "b", "c"].map { open($0) }
        _ = table.cancel(id: ids[1])
        let error = RPCError(.unavailable, "gone")
        #expect(Set(table.lose(error)) == ["a", "c"])
        #expect(table.lose(RPCError(.internal, "later")) == [])
        #expect(table.open("d", kind: .unary) == .refuse(error))
    }
}

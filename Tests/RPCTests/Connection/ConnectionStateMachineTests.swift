// SPDX-License-Identifier: MIT
import ClusterProtocol
import Testing

@testable import RPC

@Suite("Connection state machine") struct ConnectionStateMachineTests {
    private typealias Machine = ConnectionStateMachine<String>

    private var machine = Machine()

    private mutating func open(_ id: Int64, _ kind: MethodDeclaration.Kind = .unary) {
        machine.add("call \(id)", id, kind)
    }

    private func code(_ action: Machine.Action) -> StatusCode? {
        switch action {
        case .refuse(let error), .fail(_, let error): error.code
        default: nil
        }
    }

    private func isFree(_ id: Int64) -> Bool {
        do throws(RPCError) { try machine.checkFree(id) } catch { return false }
        return true
    }

    @Test("an id is free once its call is over") mutating func anIdIsFreeOnceItsCallIsOver() {
        open(1)
        #expect(!isFree(1))
        #expect(isFree(2))
        #expect(machine.openCalls == 1)
        #expect(machine[1] == "call 1")
        #expect(machine.remove(1) == "call 1")
        #expect(isFree(1))
        #expect(machine.openCalls == 0)
        #expect(machine.remove(1) == nil)
    }

    @Test("a stream takes items until its end") mutating func aStreamTakesItemsUntilItsEnd() {
        open(1, .clientStream)
        #expect(machine.unendedStreams == ["call 1"])
        #expect(machine.receive(item: [1], for: 1) == .deliver("call 1", [1]))
        #expect(machine.receiveEnd(for: 1) == .endInput("call 1"))
        #expect(machine.unendedStreams.isEmpty)
        #expect(machine.receiveEnd(for: 1) == .ignore)
        #expect(code(machine.receive(item: [1], for: 1)) == .invalidArgument)
        #expect(machine.openCalls == 0)
    }

    @Test("an item fails a call that takes none") mutating func aCallThatTakesNoItemsFailsByOne() {
        open(1)
        #expect(machine.receiveEnd(for: 1) == .ignore)
        #expect(code(machine.receive(item: [], for: 1)) == .invalidArgument)
        #expect(machine.openCalls == 0)
    }

    @Test("cancelling frees the id at once") mutating func cancellingFreesTheIdAtOnce() {
        open(1, .both)
        #expect(machine.receiveCancel(for: 1) == .cancel("call 1"))
        #expect(isFree(1))
        #expect(machine.receiveCancel(for: 1) == .ignore)
    }

    @Test("messages that come too late are ignored") mutating func messagesThatComeTooLateAreIgnored() {
        open(5, .clientStream)
        machine.remove(5)
        for id: Int64 in [4, 5] {
            #expect(machine.receive(item: [], for: id) == .ignore)
            #expect(machine.receiveEnd(for: id) == .ignore)
            #expect(machine.receiveCancel(for: id) == .ignore)
        }
    }

    @Test("an unusable message ends its call unless it was to open another")
    mutating func anUnusableMessageEndsItsCallUnlessItWasToOpenAnother() {
        let error = RPCError(.invalidArgument, "bad")
        open(1, .clientStream)
        let opening = EnvelopeError(id: 1, error: error, isOpening: true)
        #expect(machine.receive(unusable: opening, id: 1) == .refuse(error))
        #expect(machine.openCalls == 1)
        let item = EnvelopeError(id: 1, error: error)
        #expect(machine.receive(unusable: item, id: 1) == .fail("call 1", error))
        #expect(machine.openCalls == 0)
        #expect(machine.receive(unusable: item, id: 1) == .refuse(error))
    }

    /// Every order of five events: an action never speaks of a call that is not open, and what is over is closed.
    @Test("the books balance after every order of events") func everyOrderKeepsTheBooks() {
        for number in 0..<3125 {
            var machine = Machine()
            var isOpen = false
            var rest = number
            for _ in 0..<5 {
                let event = rest % 5
                rest /= 5
                let action: Machine.Action
                switch event {
                case 0 where !isOpen:
                    machine.add("call", 1, .clientStream)
                    isOpen = true
                    continue
                case 0: action = machine.receiveEnd(for: 1)
                case 1: action = machine.receive(item: [], for: 1)
                case 2: action = machine.receiveEnd(for: 1)
                case 3: action = machine.receiveCancel(for: 1)
                default:
                    let error = RPCError(.invalidArgument, "bad")
                    action = machine.receive(unusable: EnvelopeError(id: 1, error: error), id: 1)
                }
                switch action {
                case .deliver, .endInput: #expect(isOpen)
                case .cancel, .fail:
                    #expect(isOpen)
                    isOpen = false
                case .refuse: #expect(!isOpen)
                case .ignore: break
                }
                #expect(machine.openCalls == (isOpen ? 1 : 0))
            }
        }
    }

    @Test("an unreadable message ends calls that gather items")
    mutating func aMessageThatCannotBeReadEndsWhatGathersItems() {
        let unreadable = EnvelopeError(id: nil, error: RPCError(.invalidArgument, "no JSON"))
        open(1, .clientStream)
        open(2)
        open(3, .both)
        let actions = machine.receive(unreadable: unreadable)
        #expect(actions.map { code($0) } == [.invalidArgument])
        #expect(machine.openCalls == 2)
        #expect(machine.receive(item: [1], for: 1) == .ignore)
        #expect(machine.receive(unreadable: unreadable).isEmpty)
    }

    @Test("an unreadable message that opens a call is not a lost item") mutating func aMessageThatOpensIsNoLostItem() {
        open(1, .clientStream)
        let opening = EnvelopeError(id: nil, error: RPCError(.invalidArgument, "no id"), isOpening: true)
        #expect(machine.receive(unreadable: opening).isEmpty)
        _ = machine.receiveEnd(for: 1)
        let unreadable = EnvelopeError(id: nil, error: RPCError(.invalidArgument, "no JSON"))
        #expect(machine.receive(unreadable: unreadable).isEmpty)
        #expect(machine.openCalls == 1)
    }

    @Test("calls are listed by their ids") mutating func callsAreListedByTheirIds() {
        for id: Int64 in [9, 3, 7] { open(id) }
        #expect(machine.works == ["call 3", "call 7", "call 9"])
    }
}

// SPDX-License-Identifier: MIT
import ClusterProtocol
import Testing

@testable import Calls

@Suite struct ConnectionStateMachineTests {
    private static func kind(_ method: String) -> MethodDescription.Kind? {
        switch method {
        case "unary": .unary
        case "import": .clientStream
        case "watch": .both
        default: nil
        }
    }

    private var machine = ConnectionStateMachine(maximumCalls: 3)

    private static func request(_ id: Int64, _ method: String) -> CallRequest {
        CallRequest(id: id, method: method, params: [:])
    }

    private mutating func open(_ id: Int64, _ method: String = "unary") -> ConnectionStateMachine.Action {
        machine.receive(.open(Self.request(id, method)), kind: Self.kind)
    }

    private mutating func send(_ message: ClientMessage) -> ConnectionStateMachine.Action {
        machine.receive(message, kind: Self.kind)
    }

    private func code(_ action: ConnectionStateMachine.Action) -> StatusCode? {
        switch action {
        case .refuse(_, let error), .fail(_, let error): error.code
        default: nil
        }
    }

    @Test mutating func aCallOpensAndItsIdIsFreeOnceItIsOver() {
        #expect(open(1) == .open(Self.request(1, "unary"), .unary))
        #expect(machine.openCalls == 1)
        machine.finish(1)
        #expect(machine.openCalls == 0)
        #expect(open(1) == .open(Self.request(1, "unary"), .unary))
    }

    @Test mutating func anIdInUseIsRefusedAndTheFirstCallGoesOn() {
        _ = open(1, "import")
        #expect(code(open(1)) == .invalidArgument)
        #expect(machine.openCalls == 1)
        #expect(send(.item(id: 1, [1])) == .deliver(id: 1, [1]))
    }

    @Test mutating func anUnknownMethodOpensNothing() {
        #expect(code(open(1, "nothing")) == .unimplemented)
        #expect(machine.openCalls == 0)
    }

    @Test mutating func callsAreBoundedHereAndOverAll() {
        for id in 1...3 { _ = open(Int64(id)) }
        #expect(code(open(4)) == .resourceExhausted)
        machine.finish(2)
        let full = machine.receive(.open(Self.request(4, "unary")), kind: Self.kind, hasRoom: false)
        #expect(code(full) == .resourceExhausted)
        #expect(open(4) == .open(Self.request(4, "unary"), .unary))
    }

    @Test mutating func aStreamTakesItemsUntilItsEnd() {
        _ = open(1, "import")
        #expect(machine.unendedStreams == [1])
        #expect(send(.item(id: 1, [1])) == .deliver(id: 1, [1]))
        #expect(send(.end(id: 1)) == .endInput(id: 1))
        #expect(machine.unendedStreams.isEmpty)
        #expect(send(.end(id: 1)) == .ignore)
        #expect(code(send(.item(id: 1, [1]))) == .invalidArgument)
        #expect(machine.openCalls == 0)
    }

    @Test mutating func aCallThatTakesNoItemsFailsByOne() {
        _ = open(1)
        #expect(send(.end(id: 1)) == .ignore)
        #expect(code(send(.item(id: 1, []))) == .invalidArgument)
        #expect(machine.openCalls == 0)
    }

    @Test mutating func cancellingFreesTheIdAtOnce() {
        _ = open(1, "watch")
        #expect(send(.cancel(id: 1)) == .cancel(id: 1))
        #expect(machine.openCalls == 0)
        #expect(send(.cancel(id: 1)) == .ignore)
    }

    @Test mutating func messagesThatComeTooLateAreIgnored() {
        for message in [ClientMessage.item(id: 5, []), .end(id: 5), .cancel(id: 5)] {
            #expect(send(message) == .ignore)
        }
        _ = open(5, "import")
        machine.finish(5)
        for message in [ClientMessage.item(id: 5, []), .end(id: 5), .cancel(id: 5)] {
            #expect(send(message) == .ignore)
        }
    }

    @Test mutating func whileDrainingNothingOpensAndWhatIsOpenGoesOn() {
        _ = open(1, "import")
        machine.drain()
        #expect(code(open(2)) == .unavailable)
        #expect(send(.item(id: 1, [1])) == .deliver(id: 1, [1]))
        #expect(send(.end(id: 1)) == .endInput(id: 1))
    }

    @Test mutating func anUnusableMessageEndsItsCallUnlessItWasToOpenAnother() {
        let error = RPCError(.invalidArgument, "bad")
        _ = open(1, "import")
        let opening = EnvelopeError(id: 1, error: error, isOpening: true)
        #expect(machine.receive(unusable: opening, id: 1) == .refuse(id: 1, error))
        #expect(machine.openCalls == 1)
        let item = EnvelopeError(id: 1, error: error)
        #expect(machine.receive(unusable: item, id: 1) == .fail(id: 1, error))
        #expect(machine.openCalls == 0)
        #expect(machine.receive(unusable: item, id: 1) == .refuse(id: 1, error))
    }

    /// Every order of five messages: an action never speaks of a call that is not open, and what is
    /// answered is closed.
    @Test func everyOrderKeepsTheBooks() {
        let messages: [ClientMessage] = [
            .open(Self.request(1, "import")), .open(Self.request(1, "unary")), .item(id: 1, []), .end(id: 1),
            .cancel(id: 1),
        ]
        for number in 0..<3125 {
            var machine = ConnectionStateMachine(maximumCalls: 3)
            var isOpen = false
            var rest = number
            for _ in 0..<5 {
                let message = messages[rest % 5]
                rest /= 5
                switch machine.receive(message, kind: Self.kind) {
                case .open:
                    #expect(!isOpen)
                    isOpen = true
                case .deliver, .endInput: #expect(isOpen)
                case .cancel, .fail:
                    #expect(isOpen)
                    isOpen = false
                case .refuse, .ignore: break
                }
                #expect(machine.openCalls == (isOpen ? 1 : 0))
            }
        }
    }

    @Test mutating func aMessageThatCannotBeReadEndsWhatGathersItems() {
        let unreadable = EnvelopeError(id: nil, error: RPCError(.invalidArgument, "no JSON"))
        for (id, method) in [(1, "import"), (2, "unary"), (3, "watch")] { _ = open(Int64(id), method) }
        let actions = machine.receive(unreadable: unreadable)
        #expect(actions.map { code($0) } == [.invalidArgument])
        #expect(machine.openCalls == 2)
        #expect(send(.item(id: 1, [1])) == .ignore)
        #expect(machine.receive(unreadable: unreadable).isEmpty)
    }

    @Test mutating func aMessageThatOpensIsNoLostItem() {
        _ = open(1, "import")
        let opening = EnvelopeError(id: nil, error: RPCError(.invalidArgument, "no id"), isOpening: true)
        #expect(machine.receive(unreadable: opening).isEmpty)
        _ = send(.end(id: 1))
        let unreadable = EnvelopeError(id: nil, error: RPCError(.invalidArgument, "no JSON"))
        #expect(machine.receive(unreadable: unreadable).isEmpty)
        #expect(machine.openCalls == 1)
    }
}

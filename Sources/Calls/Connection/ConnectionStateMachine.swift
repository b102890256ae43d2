// SPDX-License-Identifier: MIT
import ClusterProtocol

/// Which calls of a connection are open and what a message means for them. No socket, no clock: events go
/// in, actions come out.
package struct ConnectionStateMachine {
    /// What is to be done with a message.
    package enum Action: Equatable {
        case open(CallRequest, MethodDescription.Kind)
        case deliver(id: Int64, [UInt8])
        case endInput(id: Int64)
        case cancel(id: Int64)
        /// An answer without a call: the id's own call, where it has one, goes on.
        case refuse(id: Int64, RPCError)
        /// The call is over with an error.
        case fail(id: Int64, RPCError)
        /// The message comes too late to mean anything: its call is over already.
        case ignore
    }

    private struct Call {
        let kind: MethodDescription.Kind
        var inputEnded = false

        var takesItems: Bool { kind == .clientStream || kind == .both }
    }

    private var calls = LatestFirst<Call>()
    private let maximumCalls: Int
    /// No new calls are taken: the server is about to end.
    package private(set) var isDraining = false

    package init(maximumCalls: Int) { self.maximumCalls = maximumCalls }

    package var openCalls: Int { calls.count }

    /// Calls that gather what their client streams, and whose client has not said that it has ended.
    package var unendedStreams: [Int64] {
        calls.all.filter { $0.value.takesItems && !$0.value.inputEnded }.map(\.id)
    }

    package mutating func drain() { isDraining = true }

    /// - Parameters:
    ///   - kind: the method's kind; nil where the server has none of that name.
    ///   - hasRoom: whether the server as a whole can take another call.
    package mutating func receive(
        _ message: ClientMessage, kind: (String) -> MethodDescription.Kind?, hasRoom: Bool = true
    ) -> Action {
        switch message {
        case .open(let request): open(request, kind(request.method), hasRoom)
        case .item(let id, let item): receive(item, id)
        case .end(let id): end(id)
        case .cancel(let id): close(id) ? .cancel(id: id) : .ignore
        }
    }

    /// A message that has a good id but cannot be used: the call that it was for is over.
    package mutating func receive(unusable failure: EnvelopeError, id: Int64) -> Action {
        guard !failure.isOpening, close(id) else {
            return .refuse(id: id, failure.error)
        }
        return .fail(id: id, failure.error)
    }

    /// A message that may have been an item of any stream could not be read: whatever gathers items would go
    /// on without it, so all that do are over.
    package mutating func receive(unreadable failure: EnvelopeError) -> [Action] {
        guard !failure.isOpening else { return [] }
        let error = RPCError(
            .invalidArgument,
            "A message of this connection could not be read and may have been an item of this call: \(failure.error.message)"
        )
        let gathering = unendedStreams.filter { calls[$0]?.kind == .clientStream }
        return gathering.sorted().map { id in
            calls[id] = nil
            return .fail(id: id, error)
        }
    }

    /// Whether there was a call of that id; there is none now.
    private mutating func close(_ id: Int64) -> Bool {
        guard calls[id] != nil else { return false }
        calls[id] = nil
        return true
    }

    /// The call has been answered; its id is free again.
    package mutating func finish(_ id: Int64) { calls[id] = nil }

    private mutating func open(
        _ request: CallRequest, _ kind: MethodDescription.Kind?, _ hasRoom: Bool
    ) -> Action {
        let id = request.id
        if calls[id] != nil {
            return .refuse(
                id: id,
                RPCError(
                    .invalidArgument, "The id \(id) is in use by a call that is not over. Choose another."))
        }
        if isDraining {
            return .refuse(id: id, RPCError(.unavailable, "The server is shutting down. Try again soon."))
        }
        guard let kind else {
            return .refuse(
                id: id,
                RPCError(
                    .unimplemented,
                    "There is no method \"\(request.method)\". GetServerInfo lists those there are."))
        }
        guard calls.count < maximumCalls, hasRoom else {
            return .refuse(
                id: id,
                RPCError(.resourceExhausted, "Too many calls are in flight. Wait for some to be answered."))
        }
        calls[id] = Call(kind: kind)
        return .open(request, kind)
    }

    private mutating func receive(_ item: [UInt8], _ id: Int64) -> Action {
        guard let call = calls[id] else { return .ignore }
        guard call.takesItems else {
            calls[id] = nil
            return .fail(
                id: id,
                RPCError(
                    .invalidArgument, "The call takes no items: its method does not stream from the client."))
        }
        guard !call.inputEnded else {
            calls[id] = nil
            return .fail(
                id: id, RPCError(.invalidArgument, "An item came after the client had ended its stream."))
        }
        return .deliver(id: id, item)
    }

    private mutating func end(_ id: Int64) -> Action {
        guard var call = calls[id], call.takesItems, !call.inputEnded else {
            return .ignore
        }
        call.inputEnded = true
        calls[id] = call
        return .endInput(id: id)
    }
}

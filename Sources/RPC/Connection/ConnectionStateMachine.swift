// SPDX-License-Identifier: MIT
import ClusterProtocol

/// The open calls of a caller, by id, and the effect of each message on them. It knows no socket and no clock:
/// events go in, actions come out.
///
/// - Note: `Work` is the object that runs a call. This table is the only one that holds it.
package struct ConnectionStateMachine<Work> {
    /// What to do with a message for an open call.
    package enum Action {
        case deliver(Work, [UInt8])
        case endInput(Work)
        case cancel(Work)
        /// The call ends with an error.
        case fail(Work, RPCError)
        /// Answer with this error under the message's id. An open call with that id continues.
        case refuse(RPCError)
        /// The message is too late to matter: its call is already over.
        case ignore
    }

    private struct Entry {
        let work: Work
        let kind: MethodDeclaration.Kind
        let needsEveryItem: Bool
        var inputEnded = false
    }

    private var calls: [Int64: Entry] = [:]

    package init() {}

    package var openCalls: Int { calls.count }

    /// The open calls, ordered by id.
    package var works: [Work] { calls.sorted { $0.key < $1.key }.map(\.value.work) }

    /// Calls that receive items and whose client has not ended its stream, ordered by id.
    package var unendedStreams: [Work] {
        calls.filter { $0.value.kind.takesItems && !$0.value.inputEnded }.sorted { $0.key < $1.key }
            .map(\.value.work)
    }

    package subscript(id: Int64) -> Work? { calls[id]?.work }

    /// Throws if a call with this id is open.
    package func checkFree(_ id: Int64) throws(RPCError) {
        guard calls[id] != nil else { return }
        throw RPCError(.invalidArgument, "The id \(id) is in use by a call that has not ended. Choose another.")
    }

    /// Adds a call that was not answered at once. Its id must be free.
    ///
    /// - Parameter needsEveryItem: whether it takes items of which none may be missing; nil: if only the client streams.
    package mutating func add(
        _ work: Work, _ id: Int64, _ kind: MethodDeclaration.Kind, needsEveryItem: Bool? = nil
    ) {
        calls[id] = Entry(work: work, kind: kind, needsEveryItem: needsEveryItem ?? (kind == .clientStream))
    }

    /// The call is over; its id is free again.
    @discardableResult package mutating func remove(_ id: Int64) -> Work? {
        guard let entry = calls[id] else { return nil }
        calls[id] = nil
        return entry.work
    }

    package mutating func receive(item: [UInt8], for id: Int64) -> Action {
        guard let call = calls[id] else { return .ignore }
        guard call.kind.takesItems else {
            calls[id] = nil
            return .fail(
                call.work,
                RPCError(.invalidArgument, "The call takes no items: its method does not stream from the client."))
        }
        guard !call.inputEnded else {
            calls[id] = nil
            return .fail(call.work, RPCError(.invalidArgument, "An item came after the client had ended its stream."))
        }
        return .deliver(call.work, item)
    }

    package mutating func receiveEnd(for id: Int64) -> Action {
        guard var call = calls[id], call.kind.takesItems, !call.inputEnded else { return .ignore }
        call.inputEnded = true
        calls[id] = call
        return .endInput(call.work)
    }

    package mutating func receiveCancel(for id: Int64) -> Action {
        remove(id).map { .cancel($0) } ?? .ignore
    }

    /// A message with a valid id cannot be used: the call with that id ends.
    package mutating func receive(unusable failure: EnvelopeError, id: Int64) -> Action {
        guard !failure.isOpening, let work = remove(id) else { return .refuse(failure.error) }
        return .fail(work, failure.error)
    }

    /// A message could not be read. It may have been an item of any client stream, and that stream would continue
    /// without it, so all open client streams that need every item end.
    package mutating func receive(unreadable failure: EnvelopeError) -> [Action] {
        guard !failure.isOpening else { return [] }
        let error = RPCError(
            .invalidArgument,
            "A message of this connection could not be read and may have been an item of this call: \(failure.error.message)"
        )
        let gathering = calls.filter { $0.value.needsEveryItem && !$0.value.inputEnded }
        return gathering.sorted { $0.key < $1.key }.map { id, call in
            calls[id] = nil
            return .fail(call.work, error)
        }
    }
}

extension ConnectionStateMachine.Action: Equatable where Work: Equatable {}

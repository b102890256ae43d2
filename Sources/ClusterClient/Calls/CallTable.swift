// SPDX-License-Identifier: MIT
import ClusterProtocol

/// The calls of one connection: the ids in use, and what each call may still receive.
///
/// A pure state machine: it knows no socket, no clock and no task. Events go in, actions come out. Answers
/// may arrive in any order; each is matched to its call by id.
struct CallTable<Call> {
    fileprivate enum Phase {
        /// `sendsItems`: the client's stream is still open.
        case open(sendsItems: Bool)
        /// A cancel was sent; messages that still arrive under the id are discarded.
        case cancelled
    }

    fileprivate struct Entry {
        let call: Call
        let kind: MethodDeclaration.Kind
        var phase: Phase
    }

    private var entries: [Int64: Entry] = [:]
    private var nextID: Int64 = 1
    private var lostWith: RPCError?

    init() {}

    /// The number of ids in use.
    var count: Int { entries.count }

    // MARK: What the client does

    enum OnOpen: Equatable {
        case open(id: Int64)
        /// The connection is lost; send nothing.
        case refuse(RPCError)
    }

    mutating func open(_ call: Call, kind: MethodDeclaration.Kind) -> OnOpen {
        if let lostWith { return .refuse(lostWith) }
        guard let id = takeID() else {
            return .refuse(RPCError(.resourceExhausted, "no call id is free on this connection"))
        }
        let sendsItems = kind == .clientStream || kind == .both
        entries[id] = Entry(call: call, kind: kind, phase: .open(sendsItems: sendsItems))
        return .open(id: id)
    }

    /// Returns the next unused id; ids are reused only after 2^53 calls.
    private mutating func takeID() -> Int64? {
        guard entries.count < ClientMessage.maximumID else { return nil }
        while true {
            let id = nextID
            nextID = id == ClientMessage.maximumID ? 1 : id + 1
            if entries[id] == nil { return id }
        }
    }

    enum OnSend: Equatable {
        case send
        /// The call is over or its stream has ended: nothing more may be sent under its id.
        case drop
    }

    func sendItem(id: Int64) -> OnSend {
        guard case .open(sendsItems: true)? = entries[id]?.phase else { return .drop }
        return .send
    }

    mutating func endItems(id: Int64) -> OnSend {
        guard case .open(sendsItems: true)? = entries[id]?.phase else { return .drop }
        entries[id]?.phase = .open(sendsItems: false)
        return .send
    }

    enum OnCancel {
        /// Send a cancel, and end the call on this side at once.
        case sendCancel(Call)
        case nothing
    }

    /// The caller no longer waits for the answer. The id stays in use until the server has ended the call.
    mutating func cancel(id: Int64) -> OnCancel {
        guard let entry = entries[id], case .open = entry.phase else { return .nothing }
        entries[id]?.phase = .cancelled
        return .sendCancel(entry.call)
    }

    // MARK: What the server does

    enum OnMessage {
        case deliver(Call)
        /// The call is over and its id is free.
        case finish(Call)
        case ignore
        /// The message violates the protocol: the connection can no longer be trusted.
        case violation(RPCError)
    }

    mutating func receiveItem(id: Int64) -> OnMessage {
        guard let entry = entries[id] else { return unknown(id) }
        guard case .open = entry.phase else { return .ignore }
        guard entry.kind == .serverStream || entry.kind == .both else {
            return .violation(RPCError(.internal, "the server sent an item to call \(id), which has no stream"))
        }
        return .deliver(entry.call)
    }

    /// Receives a result, the end of a stream, or an error.
    mutating func receiveLast(id: Int64) -> OnMessage {
        guard let entry = entries.removeValue(forKey: id) else { return unknown(id) }
        guard case .open = entry.phase else { return .ignore }
        return .finish(entry.call)
    }

    private func unknown(_ id: Int64) -> OnMessage {
        .violation(RPCError(.internal, "the server answered call \(id), which is not open"))
    }

    /// Open calls continue; new ones are refused with the error.
    mutating func retire(_ error: RPCError) { if lostWith == nil { lostWith = error } }

    /// The connection is lost, or the server sent an error that names no call: all calls end with the error,
    /// and new ones are refused with it.
    mutating func lose(_ error: RPCError) -> [Call] {
        if lostWith == nil { lostWith = error }
        defer { entries.removeAll() }
        return entries.values.compactMap { entry in
            if case .open = entry.phase { entry.call } else { nil }
        }
    }
}

extension CallTable: Sendable where Call: Sendable {}
extension CallTable.Entry: Sendable where Call: Sendable {}
extension CallTable.OnCancel: Equatable where Call: Equatable {}
extension CallTable.OnMessage: Equatable where Call: Equatable {}

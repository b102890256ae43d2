// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import SourceEngine

/// A served method: its declaration and its implementation.
package final class Method: Sendable {
    package let declaration: MethodDeclaration
    let implementation: Implementation
    /// Its index in `MethodSet` and in the metrics.
    let index: Int

    enum Implementation: Sendable {
        case unary(any UnaryMethod)
        case clientStream(any ClientStreamMethod)
        case serverStream(any ServerStreamMethod)
    }

    /// Whether its answers in the form `.protobuf` are messages. Those of others are JSON then too.
    package var writesProtobuf: Bool {
        switch implementation {
        case .unary(let method): method.writesProtobuf
        case .clientStream: false
        case .serverStream(let method): method.writesProtobuf
        }
    }

    init(_ declaration: MethodDeclaration, _ implementation: Implementation, index: Int) {
        self.declaration = declaration
        self.implementation = implementation
        self.index = index
    }
}

/// The served methods, by full name. A method that is not in the set is denied to everybody.
package struct MethodSet: Sendable {
    package private(set) var all: [Method] = []
    private var byName: [String: Method] = [:]
    /// Finds the source that a call's params name, and returns what the call has to wait for before it takes its data.
    var find: @Sendable (Method, inout Params) throws(RPCError) -> SourceWait?

    package init() { self.init { (_, _) throws(RPCError) in nil } }

    init(find: @escaping @Sendable (Method, inout Params) throws(RPCError) -> SourceWait?) {
        self.find = find
    }

    package mutating func add(_ method: any UnaryMethod) { add(method.declaration, .unary(method)) }
    package mutating func add(_ method: any ClientStreamMethod) {
        add(method.declaration, .clientStream(method))
    }
    package mutating func add(_ method: any ServerStreamMethod) {
        add(method.declaration, .serverStream(method))
    }

    private mutating func add(_ declaration: MethodDeclaration, _ implementation: Method.Implementation) {
        let method = Method(declaration, implementation, index: all.count)
        all.append(method)
        byName[declaration.fullName] = method
    }

    package subscript(fullName: String) -> Method? { byName[fullName] }
}

/// Answers a method without streams.
package protocol UnaryMethod: Sendable {
    var declaration: MethodDeclaration { get }

    /// Reads the params, and decides which thread answers and from which data. Called on the loop's thread, so it
    /// must be quick. A thrown error answers the call.
    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer

    /// Whether the call need not wait until its source has been opened after a start.
    var needsNoData: Bool { get }

    /// Whether it writes messages for calls whose form is `.protobuf`.
    var writesProtobuf: Bool { get }
}

extension UnaryMethod {
    package var needsNoData: Bool { false }
    package var writesProtobuf: Bool { false }
}

/// Answers a method whose client sends a stream.
package protocol ClientStreamMethod: Sendable {
    var declaration: MethodDeclaration { get }

    /// Opens the stream. Called on the loop's thread, so it must be quick.
    func begin(_ params: Params, _ call: CallContext) throws(RPCError) -> any ClientStream
}

/// A call that receives items, or the bytes of a file. Its functions are called on the pool, one after another.
package protocol ClientStream: AnyObject, Sendable {
    /// What no other call may work on while `finish` runs.
    var subject: PoolSubject? { get }
    /// Receives the JSON text of an item, or the next bytes if the call's input is a file.
    func receive(_ item: [UInt8]) throws(RPCError)
    /// Writes the JSON value of the answer, after the last item.
    func finish(into bytes: inout ByteWriter) throws(RPCError)
    /// The call ended before `finish`: discards what it has received.
    func cancelled()
}

/// Answers a method that streams from the server; the client may stream too.
package protocol ServerStreamMethod: Sendable {
    var declaration: MethodDeclaration { get }

    /// Opens the stream. Called on the loop's thread, so it must be quick.
    func begin(_ params: Params, _ call: CallContext, _ output: StreamOutput) throws(RPCError) -> any ServerStream

    /// Whether it writes messages for calls whose form is `.protobuf`.
    var writesProtobuf: Bool { get }

    /// Reads the params of a call that has one answer in parts, and decides from which data it is made; nil if the call
    /// has items. Called on the loop's thread, before `begin`, so it must be quick.
    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer?
}

extension ServerStreamMethod {
    package func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer? { nil }
    package var writesProtobuf: Bool { false }
}

/// A call that sends items. Its functions are called on the loop's thread; it runs longer work on the pool.
package protocol ServerStream: AnyObject {
    /// Receives an item from the client.
    func receive(_ item: [UInt8]) throws(RPCError)
    /// The client has sent its last item.
    func clientEnded() throws(RPCError)
    /// Writes the next item's JSON value and returns what it wrote; called after `wantToSend`.
    func next(into bytes: inout ByteWriter) throws(RPCError) -> StreamStep
    /// The call is over, for whatever reason.
    func ended()
    /// Bytes of the client's items that wait for the pool.
    var waitingBytes: Int { get }
    /// The same with those that the pool works on, as counted by `StreamOutput.hold(input:)`.
    var heldBytes: Int { get }
}

/// A stream without input. That of a method whose client does not stream receives nothing.
extension ServerStream {
    package func receive(_ item: [UInt8]) {}
    package func clientEnded() {}
    package func ended() {}
    package var waitingBytes: Int { 0 }
    package var heldBytes: Int { 0 }
}

/// What a server stream wrote.
package enum StreamStep: Sendable {
    /// An item, made from a revision of this number; nil if it is of none.
    case item(revision: UInt64?)
    /// Nothing for now.
    case nothing
    /// Nothing, because the item is larger than this number of bytes. The next call makes it again.
    case tooLarge(Int)
    /// The object that ends the stream successfully.
    case end
}

// SPDX-License-Identifier: MIT
import ClusterProtocol

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

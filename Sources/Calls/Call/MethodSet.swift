// SPDX-License-Identifier: MIT
import ClusterProtocol

/// The served methods, by full name. A method that is not in the set is denied to everybody.
package struct MethodSet: Sendable {
    package private(set) var all: [Method] = []
    private var byName: [String: Method] = [:]
    /// Returns what a query's params ask to wait for.
    let wait: @Sendable (Params) throws(RPCError) -> SourceWait?
    /// Returns the source that a call waits for because its files are still being read after a start.
    let rest: @Sendable (Method, Params) -> SourceWait?

    package init() {
        wait = { (_) throws(RPCError) in nil }
        rest = { _, _ in nil }
    }

    init(
        wait: @escaping @Sendable (Params) throws(RPCError) -> SourceWait?,
        rest: @escaping @Sendable (Method, Params) -> SourceWait?
    ) {
        (self.wait, self.rest) = (wait, rest)
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

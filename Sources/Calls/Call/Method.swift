// SPDX-License-Identifier: MIT
import ClusterProtocol

/// A served method: its declaration and its implementation.
package final class Method: Sendable {
    package let declaration: MethodDeclaration
    let implementation: Implementation
    /// Its index in `MethodSet` and in the metrics.
    let index: Int
    /// The declaration's own, at hand for each call.
    let right: AccessRight
    let threads: MethodDeclaration.Threads
    let isChange: Bool

    enum Implementation: Sendable {
        case unary(any UnaryMethod)
        case clientStream(any ClientStreamMethod)
        case serverStream(any ServerStreamMethod)
    }

    init(_ declaration: MethodDeclaration, _ implementation: Implementation, index: Int) {
        self.declaration = declaration
        self.implementation = implementation
        self.index = index
        right = declaration.right
        threads = declaration.threads
        isChange = declaration.isChange
    }
}

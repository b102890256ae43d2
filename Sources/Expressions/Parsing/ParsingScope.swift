// SPDX-License-Identifier: MIT

/// The variables bound at a position, the innermost last.
struct ParsingScope {
    private var bindings: [(name: String, value: Node)] = []

    func adding(_ more: [(name: String, value: Node)]) -> ParsingScope {
        var scope = self
        scope.bindings += more
        return scope
    }

    subscript(name: String) -> Node? {
        bindings.last { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }
}

// SPDX-License-Identifier: MIT
import JSON

/// Recently received method names, so that a repeated name allocates no string.
///
/// Not safe for use by several threads at once.
public final class MethodNames {
    private var recent: [(bytes: [UInt8], name: String)] = []
    private var oldest = 0

    private static let capacity = 4
    private static let longest = 128

    public init() {}

    /// A string element's text; nil for other kinds.
    func name(_ element: JSONElement) -> String? {
        for entry in recent where element.isString(entry.bytes) { return entry.name }
        guard let name = element.string, name.utf8.count <= Self.longest else { return element.string }
        let entry = (bytes: Array(name.utf8), name: name)
        if recent.count < Self.capacity {
            recent.append(entry)
        } else {
            recent[oldest] = entry
            oldest = (oldest + 1) % Self.capacity
        }
        return name
    }
}

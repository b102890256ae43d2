// SPDX-License-Identifier: MIT
import JSON

/// A member as the documentation describes it.
struct ConfigurationEntry {
    let name: String
    let kind: ConfigurationKind
    /// The default; nil if there is none.
    let standard: JSONValue?
    /// The help: a sentence or two.
    let help: String
    /// Whether a reload changes it.
    let isLive: Bool
    /// Whether an object without it is rejected.
    let isRequired: Bool
}

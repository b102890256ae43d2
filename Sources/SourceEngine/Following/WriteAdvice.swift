// SPDX-License-Identifier: MIT

/// What callers do instead of changing a source that follows a table.
public enum WriteAdvice: String, Sendable {
    case features = "write to the table, and the source takes the change over"
    case options = "change the options in the configuration and reload it"
    case source = "remove the source from the configuration and reload it"
}

// SPDX-License-Identifier: MIT
import Sources

/// What only one pool job may work on at a time. A second job would occupy a thread while it waits for the first,
/// so a source whose disk hangs would take all threads.
package enum PoolSubject: Hashable, Sendable {
    /// The data of a source, which is changed by one job at a time.
    case data(SourceName)
    /// A file that is read for a source before its data change.
    case file(SourceName)
}

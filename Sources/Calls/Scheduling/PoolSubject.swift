// SPDX-License-Identifier: MIT
import Sources

/// What one job of the pool works on at a time. A second job would only hold a thread while it waits for the first,
/// and a source whose disk hangs would take all threads.
package enum PoolSubject: Hashable, Sendable {
    /// The data of a source, which its changes replace one after another.
    case data(SourceName)
    /// A file that is read for a source, before its data change.
    case file(SourceName)
}

// SPDX-License-Identifier: MIT

/// Answers short enough to be written on the loop's thread.
enum ShortListing {
    /// The maximum number of features.
    static let features = 2000
}

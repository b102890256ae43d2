// SPDX-License-Identifier: MIT
import Foundation

/// The sanitizer that watches the tests, named by the environment's SANITIZER, which scripts/sanitize sets.
public enum Sanitizer {
    private static let name = ProcessInfo.processInfo.environment["SANITIZER"]

    /// Whether a sanitizer watches. It has an allocator of its own, which keeps freed memory.
    public static let isActive = name != nil

    /// Whether it is the thread sanitizer, under which no program starts that may only write small files.
    public static let isOfThreads = name == "thread"
}

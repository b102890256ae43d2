// SPDX-License-Identifier: MIT
import Foundation

/// The sanitizer that watches the tests, named by the environment's SANITIZER, which scripts/sanitize sets.
public enum Sanitizer {
    /// Whether a sanitizer watches. It has an allocator of its own, which keeps freed memory.
    public static let isActive = ProcessInfo.processInfo.environment["SANITIZER"] != nil
}

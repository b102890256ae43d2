// SPDX-License-Identifier: MIT
import Foundation

/// This process's mappings, as the system lists them.
public enum ProcessMaps {
    /// A line for each mapping.
    public static func lines() -> [Substring] {
        // `String(contentsOfFile:)` can cut files of which the system does not know the length.
        let list = try? FileHandle(forReadingAtPath: "/proc/self/maps")?.readToEnd()
        return String(decoding: list ?? Data(), as: UTF8.self).split(separator: "\n")
    }
}

// SPDX-License-Identifier: MIT
import Glibc

/// How many files a process of a build has open at the same time, so that the system's limit does not depend on the number
/// of points: more are merged, or written, in passes.
enum OpenFiles {
    /// How many files a merge reads. A stream has four merges at the same time.
    static let merged = max(2, min(192, (limit - 64) / 5))
    /// How many files are written beside a merge.
    static let written = 2 * merged

    /// The system's limit, which is 1,024 unless somebody changed it.
    private static var limit: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
        return Int(clamping: limit.rlim_cur)
    }
}

// SPDX-License-Identifier: MIT
import Glibc

enum Processors {
    /// The number of processors: the daemon's default for `limits.buildThreads`.
    static var count: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}

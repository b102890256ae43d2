// SPDX-License-Identifier: MIT
import Glibc

/// The machine's processors.
package enum Processors {
    /// How many this process may use, at least 1.
    package static var available: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}

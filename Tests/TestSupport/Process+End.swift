// SPDX-License-Identifier: MIT
import Foundation

extension Process {
    /// Waits until the process has ended.
    ///
    /// Foundation's own wait ends only once every process has ended that inherited a socket of Foundation's. A daemon
    /// that another test starts at the same moment may be one of them, and that test may itself wait for this one.
    ///
    /// - Returns: the exit status, or 128 and the number of the signal that ended the process.
    @discardableResult public func waitForEnd() -> Int32 {
        var info = siginfo_t()
        while waitid(P_PID, id_t(processIdentifier), &info, WEXITED | WNOWAIT) != 0 {
            guard errno == EINTR else {
                // Foundation has seen the end already.
                waitUntilExit()
                return terminationReason == .exit ? terminationStatus : 128 + terminationStatus
            }
        }
        let status = info._sifields._sigchld.si_status
        return info.si_code == CLD_EXITED ? status : 128 + status
    }
}

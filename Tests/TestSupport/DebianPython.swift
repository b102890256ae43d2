// SPDX-License-Identifier: MIT

/// Debian's Python, which has the modules of Debian's packages. Another one may come first in the path.
public enum DebianPython {
    /// Whether it has all of these modules.
    public static func has(_ modules: [String]) -> Bool {
        let program = "import " + modules.joined(separator: ", ")
        return (try? DaemonProcess.run("/usr/bin/python3", ["-c", program]).status) == 0
    }
}

// SPDX-License-Identifier: MIT
import Glibc

/// What libFuzzer feeds: takes any bytes, and must neither trap nor read or write outside of its memory.
protocol FuzzTarget: AnyObject {
    func take(_ input: UnsafeRawBufferPointer)
}

/// Ends the run: what must always hold does not.
func violated(_ what: String) -> Never {
    say("violated: \(what)")
    abort()
}

func say(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = write(STDERR_FILENO, line, line.count)
}

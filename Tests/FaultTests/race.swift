// SPDX-License-Identifier: MIT
// Two threads of Dispatch write one variable while both run. scripts/sanitize checks that the thread sanitizer reports
// that: a suppression that names a library hides every race of the threads that the library starts.
import Dispatch
import Synchronization

nonisolated(unsafe) var written = 0
let reached = Atomic(0)
for _ in 0..<2 {
    DispatchQueue.global().async {
        reached.add(1, ordering: .relaxed)
        while reached.load(ordering: .relaxed) < 2 {}
        for _ in 0..<1000 { written += 1 }
        reached.add(1, ordering: .relaxed)
    }
}
while reached.load(ordering: .relaxed) < 4 {}
print(written)

// SPDX-License-Identifier: MIT
// A thread writes a variable and resumes a continuation, before or after the task has suspended. Then the task reads
// the variable. That is no race: scripts/sanitize checks that the thread sanitizer reports none.
import Glibc

final class Value: @unchecked Sendable { var number = 0 }

final class Work: Sendable {
    let continuation: CheckedContinuation<Value, Never>
    init(_ continuation: CheckedContinuation<Value, Never>) { self.continuation = continuation }
}

func receive(late: Bool) async -> Value {
    await withCheckedContinuation { continuation in
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
                let made = Value()
                made.number = 1
                work.continuation.resume(returning: made)
                return nil
            }, Unmanaged.passRetained(Work(continuation)).toOpaque())
        pthread_detach(thread)
        // The task suspends when this closure has returned.
        if late { usleep(5000) }
    }
}

let total = await Task.detached {
    var sum = 0
    for round in 0..<200 {
        let value = await receive(late: round % 2 == 0)
        value.number += 1
        sum += value.number
    }
    return sum
}.value
print(total)

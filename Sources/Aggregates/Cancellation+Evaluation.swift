// SPDX-License-Identifier: MIT
import Expressions
import SystemSupport

extension Cancellation {
    /// Throws `cancelled` if nobody waits for the result any more.
    package func stopIfCancelled() throws(EvaluationStop) {
        if isCancelled { throw .cancelled }
    }
}

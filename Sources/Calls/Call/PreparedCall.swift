// SPDX-License-Identifier: MIT

/// A call whose params have been read, but which has not started.
package struct PreparedCall {
    let opening: CallOpening
    package let method: Method
    let started: UInt64
    let plan: CallPlan

    var params: Params { plan.params }
    var context: CallContext { plan.context }
    var answer: PreparedAnswer? { plan.answer }
    /// What the call waits for before it begins.
    var wait: SourceWait? { plan.wait }

    /// What is known of the answer before the work; nil for streams.
    package var facts: AnswerFacts? { answer?.facts }
}

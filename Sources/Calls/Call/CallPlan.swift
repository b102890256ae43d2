// SPDX-License-Identifier: MIT

/// What a call's params ask for.
struct CallPlan {
    let params: Params
    let context: CallContext
    let answer: PreparedAnswer?
    let wait: SourceWait?
}

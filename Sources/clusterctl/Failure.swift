// SPDX-License-Identifier: MIT

/// A command that has failed. The message is empty if the output already says why.
struct Failure: Error {
    let message: String
    /// Lines to show before the message, such as an expression with a part underlined.
    var picture: String?
    var status = ExitStatus.failed
}

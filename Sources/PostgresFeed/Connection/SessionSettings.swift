// SPDX-License-Identifier: MIT

/// The settings of every session of a feed, so that a value has the same text in all of them.
enum SessionSettings {
    static let sql = [
        "DateStyle = 'ISO, MDY'", "IntervalStyle = 'postgres'", "TimeZone = 'UTC'", "extra_float_digits = 3",
        "bytea_output = 'hex'", "lc_monetary = 'C'", "search_path = ''",
        // Makes a policy that hides rows an error, instead of a copy that differs from the changes.
        "row_security = off",
        "statement_timeout = 0", "lock_timeout = 0", "idle_in_transaction_session_timeout = 0",
    ].map { "SET \($0);" }.joined(separator: " ")
}

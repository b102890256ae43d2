// SPDX-License-Identifier: MIT

/// What every session of a feed sets, so that a value has the same text in each of them.
enum SessionSettings {
    static let sql = [
        "DateStyle = 'ISO, MDY'", "IntervalStyle = 'postgres'", "TimeZone = 'UTC'", "extra_float_digits = 3",
        "bytea_output = 'hex'", "lc_monetary = 'C'", "search_path = ''",
        // A policy that hides rows is an error instead of a copy that differs from the changes.
        "row_security = off",
        "statement_timeout = 0", "lock_timeout = 0", "idle_in_transaction_session_timeout = 0",
    ].map { "SET \($0);" }.joined(separator: " ")
}

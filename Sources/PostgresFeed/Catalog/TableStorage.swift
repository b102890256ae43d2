// SPDX-License-Identifier: MIT

/// Identifies what a table's rows lie in, to notice changes of rows that the log does not contain.
///
/// The log has no rows of a table that ALTER TABLE rewrites, nor of a partition that is attached, detached,
/// dropped or truncated by itself.
///
/// Its text is `PARTITIONS-FILES-COLUMNS`, three numbers of 32 bits in hexadecimal digits.
struct TableStorage: Sendable, Equatable, LosslessStringConvertible {
    /// Changes with the table's partitions.
    let partitions: UInt32
    /// Changes when the table or a partition gets another file (`relfilenode`): by a rewrite, but also by
    /// VACUUM FULL, CLUSTER, TRUNCATE and SET TABLESPACE.
    let files: UInt32
    /// Changes with the definition of a column: each ALTER COLUMN writes it again, even if the type stays.
    let columns: UInt32

    /// - Parameters:
    ///   - partitions: the object ids of the table and of its partitions.
    ///   - files: their files.
    ///   - columns: the transactions that wrote the definitions of the columns.
    init(partitions: String, files: String, columns: String) {
        self.partitions = Fingerprint.of(partitions)
        self.files = Fingerprint.of(files)
        self.columns = Fingerprint.of(columns)
    }

    /// Reads what `description` writes; nil for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { UInt32($0, radix: 16) }
        guard parts.count == 3, let partitions = parts[0], let files = parts[1], let columns = parts[2]
        else { return nil }
        (self.partitions, self.files, self.columns) = (partitions, files, columns)
    }

    var description: String {
        [partitions, files, columns].map { String($0, radix: 16) }.joined(separator: "-")
    }

    /// Why the table must be copied again if its rows lay in `earlier` before; nil if the log has all changes
    /// since then.
    ///
    /// VACUUM FULL and CLUSTER keep the rows, and the log has TRUNCATE of the whole table. They do not touch
    /// the columns' definitions, so only a table with partitions, of which one may have been truncated, is
    /// copied after them.
    func copyReason(since earlier: TableStorage, isPartitioned: Bool) -> String? {
        if partitions != earlier.partitions {
            return "a partition was added or removed, whose rows the server's log does not have"
        }
        guard files != earlier.files else { return nil }
        if columns != earlier.columns {
            return
                "the table was rewritten, as by ALTER TABLE … TYPE … USING, which the server's log does not have"
        }
        return isPartitioned
            ? "a partition has another file, as after TRUNCATE, which the server's log does not have" : nil
    }
}

/// Hashes text (FNV-1a), with the same result in every process.
enum Fingerprint {
    static func of(_ text: String) -> UInt32 {
        text.utf8.reduce(0x811c_9dc5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    }
}

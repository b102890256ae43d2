// SPDX-License-Identifier: MIT

extension Configuration {
    /// Members that differ but cannot change without a restart, by their names in the file.
    func membersFixedBut(changedIn other: Configuration) -> [String] {
        Self.members.flatMap(\.fixed).filter { $0.place.differs(self, other) }.map(\.name)
    }

    /// This configuration with the old values of members that only a restart changes.
    func keepingFixed(of old: Configuration) -> Configuration {
        var kept = self
        for member in Self.members.flatMap(\.fixed) { member.place.keep(old, &kept) }
        return kept
    }
}

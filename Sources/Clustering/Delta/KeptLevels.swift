// SPDX-License-Identifier: MIT

/// What one update leaves for the next: `UpdatedLevels` of any number type. Only one thread has it at a time, so that
/// `@unchecked Sendable` is sound.
protocol KeptLevels: AnyObject, Sendable {
    var memoryBytes: Int { get }
}

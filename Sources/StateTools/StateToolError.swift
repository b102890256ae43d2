// SPDX-License-Identifier: MIT
import SourceStorage
import SystemSupport

/// Why a state directory could not be checked, salvaged, backed up or restored, in a sentence for the operator.
public struct StateToolError: Error, Sendable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }

    init(_ error: FileError) { description = error.description }

    init(_ fault: StateFault) { description = fault.message }
}

/// Evaluates an expression that works on files, and converts its errors to `StateToolError`.
func onDisk<Result>(_ body: @autoclosure () throws(FileError) -> Result) throws(StateToolError) -> Result {
    do throws(FileError) { return try body() } catch { throw StateToolError(error) }
}

// SPDX-License-Identifier: MIT
import JSON

/// Reads steps of builds from what `BuildStep.json` has made.
public enum StepReading {
    /// Nil if it is not a step.
    public static func step(_ value: JSONValue) -> (any BuildStep)? { DecideStep(value) ?? LevelStream(value) }
}

// SPDX-License-Identifier: MIT
import JSON

/// Reads steps of builds from what `BuildStep.json` has made.
public enum StepReading {
    /// Nil if it is not a step.
    ///
    /// - Parameter opening: opens inputs, for steps that read some.
    public static func step(
        _ value: JSONValue, opening: BuildInput.Opening = { _, _ in nil }
    ) -> (any BuildStep)? {
        DecideStep(value) ?? LevelStream(value) ?? IntakeStep(value, opening: opening)
    }
}

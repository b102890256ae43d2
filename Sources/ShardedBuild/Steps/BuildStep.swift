// SPDX-License-Identifier: MIT
import Glibc
import JSON

/// A part of a build's work, from files to files. It gives the same files however often and wherever it runs, also twice
/// at the same time: each file is written under a name of its own (`Attempt`) and renamed when it is complete.
public protocol BuildStep: Sendable {
    /// What it does, for messages: such as "a step of zooms 13 to 16".
    var title: String { get }
    /// The step as a value for a file or a command line.
    var json: JSONValue { get }

    func run() throws(BuildError)
}

/// Runs steps, several at a time.
public protocol StepRunner: Sendable {
    /// Runs all steps, which do not depend on each other; returns when all have ended.
    func run(_ steps: [any BuildStep]) throws(BuildError)
}

/// Runs steps in this process, one after another.
public struct LocalSteps: StepRunner {
    public init() {}

    public func run(_ steps: [any BuildStep]) throws(BuildError) { for step in steps { try step.run() } }
}

/// Names of files that are not complete. The same step may run several times at the same time, on this machine or another,
/// so each attempt has names of its own.
enum Attempt {
    static let ending = ".part"

    /// A name for what will be `path` when it is complete, another one each time.
    static func path(of path: String) -> String {
        "\(path).\(getpid())-\(String(UInt64.random(in: 0...UInt64.max), radix: 16))\(ending)"
    }
}

// SPDX-License-Identifier: MIT
import GeoJSON
import JSON
import SystemSupport

/// Divides the inputs among steps: several small files a step, or several steps a file of lines or rows. The same inputs
/// are always divided in the same way.
struct IntakePlan {
    private let inputs: [BuildInput]
    private let format: FeatureFormat
    /// About how many bytes a step reads.
    private let step: Int

    /// What steps make is merged: so many files at the same time (`OpenFiles`).
    private static let mostSteps = 192
    /// How much text a file's byte stands for if it is compressed or in columns.
    private static let bytesOfByte = 5

    /// - Parameter least: the least number of bytes that are worth a step.
    init(_ inputs: [BuildInput], _ format: FeatureFormat, least: Int) {
        (self.inputs, self.format) = (inputs, format)
        step = max(least, inputs.reduce(0) { $0 + Self.weight($1) } / Self.mostSteps)
    }

    private static func weight(_ input: BuildInput) -> Int {
        input.file?.size ?? (FileIO.size(input.name) * bytesOfByte)
    }

    /// The pieces of each step.
    func steps() throws(BuildError) -> [[IntakeStep.Piece]] {
        var (steps, gathered, bytes): ([[IntakeStep.Piece]], [IntakeStep.Piece], Int) = ([], [], 0)
        func add(_ piece: IntakeStep.Piece, _ size: Int) {
            gathered.append(piece)
            bytes += size
            guard bytes >= step else { return }
            steps.append(gathered)
            (gathered, bytes) = ([], 0)
        }
        for input in inputs {
            let ends = try cuts(input)
            guard let last = ends.last, let file = input.file else {
                add(IntakeStep.Piece(input: input, range: nil), Self.weight(input))
                continue
            }
            for (start, end) in zip([0] + ends, ends + [max(last, file.size)]) {
                add(IntakeStep.Piece(input: input, range: start..<end), end - start)
            }
        }
        if !gathered.isEmpty { steps.append(gathered) }
        return steps
    }

    /// Where a file is cut; nowhere if it is small or cannot be cut.
    private func cuts(_ input: BuildInput) throws(BuildError) -> [Int] {
        guard let file = input.file, file.size > step, let cuts = FeatureCuts(format, head: try file.head()) else {
            return []
        }
        let descriptor = try onDisk(try FileDescriptor(reading: file.path))
        return try cuts.offsets(size: file.size, step: step) { (range) throws(BuildError) in
            let bytes = try onDisk(
                try FileIO.read(range.count, from: descriptor, at: range.lowerBound, path: file.path))
            guard bytes.count == range.count else { throw BuildError("\(file.path) has become shorter") }
            return bytes
        }
    }
}

// SPDX-License-Identifier: MIT
import Clustering
import JSON
import SourceEngine
import SystemSupport

/// Builds the image of a source on one machine, out of core: exactly the clusters of a daemon that imports the same files
/// with the same options.
///
/// The features are read by steps, several at a time, and sorted by their keys. Then the zooms are made in groups of four, the deepest
/// first. For each group the level below is cut into parts, each with a margin, and each part is clustered by a step of its
/// own (`DecideStep`), several at a time. In the end the clusters are numbered, and the image is written. Every file has
/// its name once it is complete, so a build that was ended goes on where it was.
public struct ShardedBuild {
    private let settings: BuildSettings
    private let runner: any StepRunner
    private let progress: (BuildProgress) -> Void

    /// How many zooms a level is cut for.
    private static let zoomsOfGroup = 4

    public init(
        _ settings: BuildSettings, runner: any StepRunner = LocalSteps(),
        progress: @escaping (BuildProgress) -> Void = { _ in }
    ) {
        (self.settings, self.runner, self.progress) = (settings, runner, progress)
    }

    /// Builds the image. The temporary files are removed if it succeeds.
    ///
    /// - Complexity: time O(points × log(points)); memory as the settings say.
    public func run() throws(BuildError) -> BuildSummary {
        let options = try settings.checkedOptions()
        guard settings.overwrites || !FileIO.exists(settings.output) else {
            throw BuildError(
                "\(settings.output) exists already: --overwrite replaces it", isRefusal: true)
        }
        let files = BuildFiles(settings.temporary, output: settings.output, threads: settings.workers)
        try prepare(files, options)
        let (intake, partitions, parts) = try Intake(
            settings: settings, options: options, files: files, runner: runner, progress: progress
        ).run()
        var summary = BuildSummary()
        let outputs = try cluster(options, files, points: intake.points, &summary)
        progress(BuildProgress(stage: .assembling, detail: ""))
        let assembly = ImageAssembly(
            options: options, files: files, intake: intake, partitions: partitions, parts: parts, outputs: outputs,
            threads: settings.workers, memory: settings.memory)
        (summary.clusters, summary.bytes) = try assembly.write(to: settings.output)
        (summary.points, summary.accepted) = (intake.points, intake.accepted)
        summary.skippedReasons = intake.skippedReasons
        files.removeAll()
        return summary
    }

    /// Makes the temporary directory, or checks that its files are of the same build.
    private func prepare(_ files: BuildFiles, _ options: SourceOptions) throws(BuildError) {
        let job = JSONValue.object([
            "version": .number(4), "options": options.json, "skips": .bool(settings.policy == .skip),
            "wraps": .bool(settings.wrapsLongitudes), "format": .string("\(settings.format)"),
            "inputs": .array(settings.inputs.map { .array([.string($0.name), .string($0.stamp)]) }),
        ])
        if settings.resumes, let known = try BuildFiles.value(files.job) {
            guard known == job else {
                throw BuildError(
                    "\(files.directory) has the files of a build with other inputs or options: leave --resume out to begin again",
                    isRefusal: true)
            }
            files.removeIncomplete()
            return
        }
        guard files.areOfBuild else {
            throw BuildError(
                "\(files.directory) has files that are not of a build, and would be removed: choose another --temporary",
                isRefusal: true)
        }
        files.removeAll()
        try onDisk(try FileIO.makeDirectory(files.directory))
        try BuildFiles.write(job, to: files.job)
        try BuildFiles.write(options.json, to: files.options)
    }

    /// Makes all zooms.
    ///
    /// - Returns: the outputs of all steps.
    private func cluster(
        _ options: SourceOptions, _ files: BuildFiles, points: Int, _ summary: inout BuildSummary
    ) throws(BuildError) -> [LevelFiles] {
        let clustering = options.clustering
        // A part has its margin too.
        var most = max(1, settings.memory / DecideStep.bytesOfNode / 2)
        if let shards = settings.shards { most = min(most, max(1, (points + shards - 1) / shards)) }
        var (level, count) = ([files.nodes], points)
        var outputs: [LevelFiles] = []
        var zoom = clustering.maximumZoom
        while zoom >= clustering.minimumZoom {
            let isLast = count <= most
            let lowest = isLast ? clustering.minimumZoom : max(clustering.minimumZoom, zoom - Self.zoomsOfGroup + 1)
            let zooms = lowest...zoom
            progress(BuildProgress(stage: .clustering, detail: "zooms \(zoom) to \(lowest), \(count) nodes"))
            let outcome = try GroupRun(
                zooms: zooms, options: clustering, directory: files.group(zooms, most: most),
                optionsFile: files.options,
                level: level, nodeCount: count, most: most, memory: settings.memory, workers: settings.workers,
                runner: runner
            ).run()
            summary.groups.append(outcome.summary)
            outputs += outcome.outputs
            (level, count) = (outcome.outputs.map(\.survivors), try outcome.survivors())
            zoom = lowest - 1
        }
        return outputs
    }
}

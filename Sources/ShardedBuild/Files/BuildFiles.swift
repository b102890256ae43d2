// SPDX-License-Identifier: MIT
import JSON
import SourceEngine
import SystemSupport

/// The temporary files of a build. Each has its name once it is complete, so what exists need not be made again.
final class BuildFiles: Sendable {
    let directory: String
    let shared: SharedState

    /// The image until it is complete. Its text is written before all else.
    let image: String

    init(_ directory: String, output: String, threads: Int) {
        (self.directory, image) = (directory, output + ".new")
        shared = SharedState(limits: SourceLimits(filterCacheBytes: 0, buildThreads: threads))
    }

    private func path(_ name: String) -> String { "\(directory)/\(name)" }

    /// The options and inputs that the files belong to.
    var job: String { path("job.json") }

    /// The source's options, for the steps.
    var options: String { path("options.json") }

    /// The first part of the names of what a step of reading makes.
    func read(_ step: Int) -> IntakeFiles { IntakeFiles(base: path("read-\(step)")) }

    // By the features' rows, which follow the curve (`CurveOrder`).
    /// Written when the text is in `image`, after the other two.
    var text: String { path("text.json") }
    var offsets: String { path("offsets") }
    var blockStarts: String { path("block-starts") }
    /// The points, if rows are in the order of the input.
    var points: String { path("points") }
    /// Records of rows in the same range, and how long each is, in the order of the rows, when they are in `image`.
    func bucket(_ number: Int) -> String { path("bucket-\(number)") }
    func lengths(_ number: Int) -> String { path("bucket-\(number).lengths") }
    /// What is in the buckets.
    var buckets: String { path("buckets.json") }

    // By the features' numbers in the input, or with them.
    /// The rows. Written after those of the points.
    var inputRows: String { path("input-rows") }
    var strings: String { path("strings") }
    var identified: String { path("identified") }
    var anonymous: String { path("anonymous") }
    /// Written after the other hashes.
    var repeated: String { path("repeated") }

    // By the points' order.
    var nodes: String { path("nodes") }
    /// Their features' numbers in the input, and rows.
    var inputs: String { path("inputs") }
    var rows: String { path("rows") }
    /// By cluster, the number of the feature that it grew from.
    var clusterCodes: String { path("cluster-codes") }
    /// The values of `partitionBy`, by partition. Written last.
    var order: String { path("order.json") }

    /// The directory of a group of zooms, whose level was cut into parts of at most so many nodes: parts of another cut have
    /// the same numbers.
    func group(_ zooms: ClosedRange<Int>, most: Int) -> String {
        path("\(Self.groupPrefix)\(zooms.lowerBound)-\(zooms.upperBound)-of-\(most)")
    }

    private static let groupPrefix = "zooms-"

    static func write(_ value: JSONValue, to path: String) throws(BuildError) {
        var text = ByteWriter()
        text.append(value)
        let temporary = Attempt.path(of: path)
        let file = try onDisk(try FileIO.create(temporary))
        try onDisk(try FileIO.write(text.bytes, to: file, at: 0, path: path))
        try onDisk(try FileIO.sync(file, path: path))
        try onDisk(try FileIO.rename(temporary, to: path))
    }

    /// The value in a file; nil if there is no such file.
    static func value(_ path: String) throws(BuildError) -> JSONValue? {
        guard FileIO.exists(path) else { return nil }
        let text = try onDisk(try FileIO.contents(of: path))
        guard let value = try? JSONReader.parse(text) else {
            throw BuildError("\(path) is damaged; build again without --resume")
        }
        return value
    }

    /// The options of the source in a file.
    static func sourceOptions(_ path: String) throws(BuildError) -> SourceOptions {
        guard let value = try value(path) else { throw BuildError("there is no file \(path)") }
        return try inEngine(try SourceOptions(reading: value))
    }

    /// Whether the directory has nothing but what a build has made: it is empty or absent, or has a build's description.
    var areOfBuild: Bool {
        let names = (try? FileIO.names(in: directory)) ?? []
        if names.allSatisfy({ $0.hasPrefix("job.json.") && $0.hasSuffix(Attempt.ending) }) { return true }
        guard case .object(let object)? = try? Self.value(job) else { return false }
        return ["version", "options", "inputs"].allSatisfy { object[$0] != nil }
    }

    private var groups: [String] {
        ((try? FileIO.names(in: directory)) ?? []).filter { $0.hasPrefix(Self.groupPrefix) }.map { path($0) }
    }

    /// Removes what was not complete when an earlier build was ended.
    func removeIncomplete() {
        for folder in groups + [directory] {
            for name in (try? FileIO.names(in: folder)) ?? [] where name.hasSuffix(Attempt.ending) {
                FileIO.remove(folder + "/" + name)
            }
        }
    }

    /// Removes the directory with all that is in it, and an image that is not complete.
    func removeAll() {
        FileIO.remove(image)
        for folder in groups + [directory] { FileIO.removeDirectory(folder) }
    }
}

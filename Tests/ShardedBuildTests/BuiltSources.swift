// SPDX-License-Identifier: MIT
import Clustering
import Foundation
import GeoJSON
import ImageStore
import JSON
import SourceEngine
import SourceTestSupport
import Synchronization
import SystemSupport
import TestSupport
import Testing

@testable import ShardedBuild

/// A folder for a test's files, removed with it.
final class BuildFolder {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "clusterd-build-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ text: String, to name: String) throws -> String {
        try text.write(toFile: path + "/" + name, atomically: true, encoding: .utf8)
        return path + "/" + name
    }

    func bytes(_ name: String) throws -> [UInt8] { try FileIO.contents(of: path + "/" + name) }
}

/// Features for tests of builds, a line each, the same for the same seed.
enum FeatureSet: String, CaseIterable, Sendable {
    case gathered, uniform, lines, onePlace

    func lines(_ count: Int, seed: UInt64 = 1) -> String {
        var random = SeededRandom(seed: seed)
        func uniform(_ range: ClosedRange<Double>) -> Double { .random(in: range, using: &random) }
        let towns = (0..<12).map { _ in (uniform(-150...150), uniform(-60...60)) }
        return (0..<count).map { index in
            let (longitude, latitude): (Double, Double)
            switch self {
            case .gathered:
                let town = towns[index % 12]
                (longitude, latitude) = (town.0 + uniform(-1...1) * uniform(0...1), town.1 + uniform(-1...1))
            case .uniform: (longitude, latitude) = (uniform(-180...180), uniform(-80...80))
            case .lines: (longitude, latitude) = (-120 + 0.01 * Double(index), 5 * Double(index % 3))
            case .onePlace: (longitude, latitude) = (7.5, 47.5)
            }
            let name = index % 7 == 0 ? "a rather long name \(index % 11)" : "n\(index % 13)"
            return """
                {"type":"Feature","id":\(index % 5 == 4 ? "\"s\(index)\"" : "\(index)"),"geometry":{"type":"Point",\
                "coordinates":[\(longitude),\(latitude)]},"properties":{"name":"\(name)","value":\(index * 37 % 101),\
                "kind":"\(["bar", "café", "hotel"][index % 3])","open":\(index % 2 == 0),\
                "place":\(longitude)}}
                """
        }.joined(separator: "\n") + "\n"
    }
}

extension FeatureSet {
    /// The same as CSV, with line ends and quotation marks within cells.
    func table(_ count: Int, seed: UInt64 = 1) -> String {
        var rows = "id,longitude,latitude,name,value,kind,open\n"
        for (index, line) in lines(count, seed: seed).split(separator: "\n").enumerated() {
            guard case .object(let feature)? = try? JSONReader.parse(String(line)),
                case .object(let geometry)? = feature["geometry"], case .array(let position)? = geometry["coordinates"],
                case .object(let properties)? = feature["properties"]
            else { continue }
            let name = index % 3 == 0 ? "\"a \"\"name\"\",\nof \(index % 9) lines\n\"" : "n\(index % 13)"
            let cells = [feature["id"], position[0], position[1], nil, properties["value"], properties["kind"]]
            rows += cells.map { $0.map(\.text) ?? name }.joined(separator: ",") + ",\(index % 2 == 0)\n"
        }
        return rows
    }
}

/// Reads a file for a build.
private final class FileReader: BuildReader {
    private let handle: FileHandle
    init(_ path: String) throws { handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path)) }

    func read(_ body: (Span<UInt8>) -> Void) throws -> Bool {
        guard let bytes = try handle.read(upToCount: 1 << 16).map({ Array($0) }), !bytes.isEmpty else { return false }
        body(bytes.span)
        return true
    }
}

extension BuildInput {
    init(file path: String) {
        self.init(name: path, stamp: "1", file: PlainFile(path: path, size: FileIO.size(path))) {
            try FileReader(path)
        }
    }
}

extension BuildSettings {
    /// A build of files of a folder, into `image.clusterd` there.
    init(_ folder: BuildFolder, _ inputs: [String], options: String) throws {
        self.init(
            inputs: inputs.map { BuildInput(file: $0) },
            options: try JSONReader.parse(options), output: folder.path + "/image.clusterd",
            temporary: folder.path + "/temporary")
        memory = BuildSettings.leastMemory
    }
}

/// Puts the features of an image, whose rows follow the curve, in the order of the input.
private struct InputOrder {
    /// By number in the input, and the other way round.
    let rows: [Int]
    let numbers: [Int]

    init(_ section: [UInt8]) throws {
        let rows = Self.numbers(section)
        var numbers = [Int](repeating: -1, count: rows.count)
        for (number, row) in rows.enumerated() {
            numbers[try #require(rows.indices.contains(row) ? row : nil)] = number
        }
        try #require(!numbers.contains(-1), "some features have the same row")
        (self.rows, self.numbers) = (rows, numbers)
    }

    /// - Parameter points: by row.
    func restore(_ sections: inout [UInt32: [UInt8]], _ points: [UInt32]) throws {
        func numbers(_ name: UInt32) throws -> [Int] { Self.numbers(try #require(sections[name])) }
        sections[SnapshotSection.sortedRows] = Self.bytes(
            try numbers(SnapshotSection.sortedRows).map { UInt32(self.numbers[$0]) })
        sections[SnapshotSection.sortedPoints] = Self.bytes(rows.map { points[$0] })
        let (text, offsets) = (try #require(sections[SnapshotSection.text]), try numbers(SnapshotSection.offsets))
        let blocks: [Int] = try #require(sections[SnapshotSection.blockStarts]).withUnsafeBytes {
            Array($0.bindMemory(to: Int.self))
        }
        let starts = offsets.enumerated().map { blocks[$0 / 64] + $1 } + [text.count]
        var (newText, newOffsets, newBlocks): ([UInt8], [UInt32], [Int]) = ([], [], [])
        for (number, row) in rows.enumerated() {
            if number % 64 == 0 { newBlocks.append(newText.count) }
            newOffsets.append(UInt32(newText.count - newBlocks[number / 64]))
            newText += text[starts[row]..<starts[row + 1]]
        }
        sections[SnapshotSection.text] = newText
        sections[SnapshotSection.offsets] = Self.bytes(newOffsets)
        sections[SnapshotSection.blockStarts] = Self.bytes(newBlocks)
    }

    static func numbers(_ section: [UInt8]) -> [Int] {
        section.withUnsafeBytes { $0.bindMemory(to: UInt32.self).map(Int.init) }
    }

    private static func bytes<Value: BitwiseCopyable>(_ values: [Value]) -> [UInt8] {
        values.withUnsafeBytes(Array.init)
    }
}

/// The points of an image in the order of the curve along which its nodes lie, how many of them lie before each 4,096 nodes, and
/// the points in the order of the rows.
func pointsAlongCurve(of path: String) throws -> (curve: [UInt32], ranks: [Int], rows: [UInt32]) {
    let reader = try SectionFileReader(path, .whole)
    let ordered: [UInt32] = try reader.values(SnapshotSection.sortedRows)
    var rows = [UInt32](repeating: 0, count: ordered.count)
    for (point, row) in ordered.enumerated() { rows[Int(row)] = UInt32(point) }
    // A position and a node's number.
    let slots: [UInt32] = try reader.values(SnapshotSection.index(.spatialSlots))
    let nodes = reader.bytes(SnapshotSection.index(.parents)).count / 4
    let width = slots.count / nodes
    // A slot of 64-bit positions ends with four bytes of nothing.
    let all = stride(from: width == 3 ? 2 : 4, to: slots.count, by: width).map { slots[$0] }
    var (ranks, curve): ([Int], [UInt32]) = ([], [])
    for (index, node) in all.enumerated() {
        if index % 4096 == 0 { ranks.append(curve.count) }
        if node < rows.count { curve.append(node) }
    }
    return (curve, ranks, rows)
}

/// The sections of an image that follow from features and options alone, with features in the order of the input, and what of
/// the description does.
func content(of path: String) throws -> (sections: [UInt32: [UInt8]], description: JSONObject) {
    let reader = try SectionFileReader(path, .whole)
    var sections: [UInt32: [UInt8]] = [:]
    // Only an image has the numbers of clusters' features. The hashes of ids have a key of their own in each process, and moments are those of the import.
    let others = [
        SnapshotSection.identifierKey, SnapshotSection.identifiers, SnapshotSection.momentStarts,
        SnapshotSection.moments, SnapshotSection.description, SnapshotSection.clusterCodes,
    ]
    for name in 1..<0x3000 as Range<UInt32> where reader.has(name) && !others.contains(name) {
        sections[name] = Array(reader.bytes(name))
    }
    if let inputRows = sections.removeValue(forKey: SnapshotSection.inputRows) {
        let points = try pointsAlongCurve(of: path)
        let isCounted = sections.removeValue(forKey: SnapshotSection.pointRanks).map(InputOrder.numbers) == points.ranks
        #expect(isCounted, "the points before each 4,096 nodes are counted wrongly")
        try InputOrder(inputRows).restore(&sections, points.curve)
    }
    let text = Array(reader.bytes(SnapshotSection.description))
    guard case .object(var description) = try JSONReader.parse(text) else {
        throw BuildError("\(path) has no description")
    }
    for name in ["source", "owner", "revision", "createdAt", "updatedAt", "buildMs"] { description[name] = nil }
    return (sections, description)
}

extension KeptSources {
    /// Imports files into a source as a daemon does, and returns the path of its snapshot.
    func importedImage(_ inputs: [String], options: String) throws -> String {
        let source = try create("test", options: options)
        for (number, path) in inputs.enumerated() {
            let load = FeatureImport(into: source, mode: number == 0 ? .replace : .append, policy: .skip)
            try load.read(try FileDescriptor(reading: path), threads: 1, .never)
            _ = try load.finish(.never)
        }
        source.saveLater()
        wait()
        let newest = try files().filter { $0.hasSuffix(".snapshot") }.max { $0.count < $1.count || $0 < $1 }
        return file(try #require(newest))
    }
}

/// A build that is made again in other ways, which must not change its image.
struct RepeatedBuild {
    let folder: BuildFolder
    var settings: BuildSettings
    private let expected: [UInt8]
    /// What the first build has made, in one part.
    let summary: BuildSummary

    /// - Parameter texts: the files' names and contents.
    init(_ texts: [(name: String, text: String)], options: String) throws {
        folder = try BuildFolder()
        let inputs = try texts.map { [folder] in try folder.write($0.text, to: $0.name) }
        settings = try BuildSettings(folder, inputs, options: options)
        settings.overwrites = true
        summary = try ShardedBuild(settings).run()
        expected = try folder.bytes("image.clusterd")
    }

    /// Builds again, and compares the images.
    ///
    /// - Parameter cause: what the image would depend on.
    @discardableResult func run(
        _ cause: String, with runner: any StepRunner = LocalSteps(), sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> BuildSummary {
        let summary = try ShardedBuild(settings, runner: runner).run()
        let isSame = try folder.bytes("image.clusterd") == expected
        #expect(isSame, "the image depends on \(cause)", sourceLocation: sourceLocation)
        return summary
    }
}

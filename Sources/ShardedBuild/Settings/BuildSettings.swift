// SPDX-License-Identifier: MIT
import GeoJSON
import JSON
import SourceEngine
import SystemSupport

/// What an image is built of, and how.
public struct BuildSettings {
    /// The files with the features, in the order in which they are imported.
    public var inputs: [BuildInput]
    /// As `CreateSource` takes them.
    public var options: JSONValue
    /// The path of the image.
    public var output: String
    /// A directory for temporary files, which take about 400 bytes a point besides the features' text.
    public var temporary: String
    /// The memory of each process, in bytes, besides what it takes without data.
    public var memory = 4 << 30
    /// How many processes cluster at the same time.
    public var workers = 1
    /// In how many parts a level is cut at least; nil: as many as the memory needs.
    public var shards: Int?
    public var policy = InvalidFeaturePolicy.reject
    public var format = FeatureFormat()
    public var wrapsLongitudes = false
    /// Whether to go on where an earlier build of the same inputs was ended.
    public var resumes = false
    public var overwrites = false

    /// The least number of bytes of inputs that are worth a step of reading.
    var leastBytesOfStep = 64 << 20

    /// The least memory that can be given.
    public static let leastMemory = 64 << 20

    public init(inputs: [BuildInput], options: JSONValue, output: String, temporary: String) {
        (self.inputs, self.options, self.output, self.temporary) = (inputs, options, output, temporary)
    }

    /// The options, if an image with them can be built in parts.
    func checkedOptions() throws(BuildError) -> SourceOptions {
        let read: SourceOptions
        do throws(SourceError) { read = try SourceOptions(reading: options) } catch { throw BuildError(error) }
        if let refusal = Self.refusal(read) { throw BuildError("options.\(refusal)", isRefusal: true) }
        return read
    }

    /// Why sources with these options cannot be built in parts; nil if they can.
    private static func refusal(_ options: SourceOptions) -> String? {
        if options.clusterIds != .origin {
            return "clusterIds: must be \"origin\": ids by index number the nodes of a level in one process"
        }
        if options.sortKey == nil {
            return
                "sortKey: is missing: the order of clustering must follow from the features, such as [\"hash\", [\"id\"]]"
        }
        if options.minPoints != 2 {
            return
                "minPoints: must be 2: what groups below a larger number pass on depends on a tree of the whole level"
        }
        if !options.views.isEmpty { return "views: cannot be built in parts: build an image for each" }
        if options.ttlSeconds != nil { return "ttlSeconds: features of an image never go" }
        return nil
    }
}

/// A file of features.
public struct BuildInput: Sendable {
    /// Its name in messages.
    public let name: String
    /// Changes with the file's content, such as its size and the moment of its last change.
    public let stamp: String
    /// What `Opening` needs besides the name.
    public let arguments: [String]
    /// The file whose bytes `open` reads; nil if they come from elsewhere.
    public let file: PlainFile?
    /// Opens it from the start.
    public let open: @Sendable () throws -> any BuildReader

    /// Makes an input of its name and arguments, in the process that reads it; nil if there is no such file.
    public typealias Opening = (_ name: String, _ arguments: [String]) -> BuildInput?

    /// A regular file.
    public struct PlainFile: Sendable {
        public let path: String
        /// In bytes.
        public let size: Int

        public init(path: String, size: Int) { (self.path, self.size) = (path, size) }

        /// Its first bytes, which show whether it can be cut.
        func head() throws(BuildError) -> [UInt8] {
            let file = try onDisk(try FileDescriptor(reading: path))
            return try onDisk(try FileIO.read(min(size, FeatureCuts.headSize), from: file, at: 0, path: path))
        }
    }

    public init(
        name: String, stamp: String, arguments: [String] = [], file: PlainFile? = nil,
        open: @escaping @Sendable () throws -> any BuildReader
    ) {
        (self.name, self.stamp, self.arguments, self.file, self.open) = (name, stamp, arguments, file, open)
    }
}

/// Reads a file from its start to its end.
public protocol BuildReader: AnyObject {
    /// Lends the next bytes; false at the end.
    func read(_ body: (Span<UInt8>) -> Void) throws -> Bool
}

/// What a build does at the moment.
public struct BuildProgress: Sendable {
    public enum Stage: String, Sendable { case reading, ordering, clustering, assembling }

    public let stage: Stage
    /// While reading, the number of steps; while ordering, that of points; while clustering, the zooms that are being made.
    public let detail: String
}

/// What a build has made.
public struct BuildSummary: Sendable {
    public var points = 0
    public var clusters = 0
    public var accepted = 0
    public var skippedReasons: [String: Int] = [:]
    public var groups: [GroupSummary] = []
    public var bytes = 0

    /// What a group of zooms took.
    public struct GroupSummary: Sendable, Equatable {
        public let zooms: ClosedRange<Int>
        public let nodes: Int
        public var parts = 0
        /// Nodes that were given to more than one part.
        public var copies = 0
        /// Nodes that the parts left open, or that lie in a crowd: a stream in order has decided them.
        public var open = 0
        /// How often the stream read the nodes of a zoom, at most; 0 if nothing was open.
        public var rounds = 0
        /// The size of all files in which nodes were handed on: to the parts, from them to the stream, and to the next
        /// group.
        public var bytes = 0
        public var seconds = 0.0
    }
}

extension BuildSummary.GroupSummary {
    private static var counts: [(name: String, count: WritableKeyPath<Self, Int>)] {
        [("parts", \.parts), ("copies", \.copies), ("open", \.open), ("rounds", \.rounds), ("bytes", \.bytes)]
    }

    public var json: JSONValue {
        var object: JSONObject = [
            "zooms": .array([.number(Double(zooms.lowerBound)), .number(Double(zooms.upperBound))]),
            "nodes": .number(Double(nodes)),
        ]
        for (name, count) in Self.counts { object[name] = .number(Double(self[keyPath: count])) }
        object["seconds"] = .number(seconds)
        return .object(object)
    }

    /// Nil if a member is missing or of another type.
    init?(_ value: JSONValue) {
        guard case .object(let object) = value, let zooms = object["zooms"].flatMap(StepValues.zooms),
            case .number(let nodes)? = object["nodes"], let nodes = Int(exactly: nodes),
            case .number(let seconds)? = object["seconds"]
        else { return nil }
        self.init(zooms: zooms, nodes: nodes, seconds: seconds)
        for (name, count) in Self.counts {
            guard case .number(let number)? = object[name], let number = Int(exactly: number) else { return nil }
            self[keyPath: count] = number
        }
    }
}

// SPDX-License-Identifier: MIT
import Glibc
import SourceEngine
import SystemSupport

/// What an archive should contain.
public struct ArchiveRequest: Sendable {
    /// The zooms of its tiles, within 0 to 30.
    public var zooms: ClosedRange<Int>
    /// The name of the tiles' only layer.
    public var layer: String
    /// Which properties features keep, and which details clusters have.
    public var output: FeatureOutput
    /// Whether tiles are compressed with gzip.
    public var isCompressed: Bool
    public var name: String
    public var description: String?
    public var attribution: String?
    /// The program that writes the archive, with its version.
    public var generator: String
    /// Identifies the part of the source to which its publisher was restricted; nil: the whole.
    public var part: String?

    public init(
        zooms: ClosedRange<Int>, layer: String, output: FeatureOutput = FeatureOutput(),
        isCompressed: Bool = true, name: String? = nil, description: String? = nil,
        attribution: String? = nil, generator: String = "clusterd"
    ) {
        self.zooms = zooms
        self.layer = layer
        self.output = output
        self.isCompressed = isCompressed
        self.name = name ?? layer
        self.description = description
        self.attribution = attribution
        self.generator = generator
    }
}

/// The finished archive.
public struct ArchiveSummary: Sendable, Equatable {
    public let tiles: Int
    /// The file's size.
    public let bytes: Int
    public let zooms: ClosedRange<Int>
    /// The extent of the points; nil without points.
    public let bounds: Box?
    public let revision: UInt64
}

/// How many tiles a zoom of an archive has, and about how many bytes they take.
public struct ZoomEstimate: Sendable, Equatable {
    public let zoom: Int
    public let tiles: Int
    /// Extrapolated from some of the tiles.
    public let bytes: Int
}

/// The progress of writing an archive.
public struct ArchiveProgress: Sendable, Equatable {
    /// Tiles written.
    public var tiles: Int
    /// Tiles in total.
    public var ofTiles: Int
    /// Bytes of tiles written.
    public var bytes: Int
}

/// A file to be written.
public struct ArchiveTarget: Sendable {
    /// Its directory, open.
    let directory: FileDescriptor
    let name: String
    /// The path in answers.
    public let path: String
    /// Whether it replaces an existing file of that name.
    let overwrites: Bool
}

/// Why an archive could not be written. No part of it remains.
public enum ArchiveError: Error {
    /// A file of that name exists, and `overwrite` is false.
    case fileExists(String)
    /// A file of that name exists, which the caller may not see.
    case isHidden(String)
    /// The path is not below one of these directories.
    case forbidden(below: [String])
    /// The directory of the path does not exist.
    case missingDirectory(String)
    /// A directory has the file's name.
    case isDirectory(String)
    /// The disk is full, a quota is used up, or the file would be larger than a file may be.
    case noSpace
    /// Another system call failed.
    case system(FileError)
    case outOfMemory
    /// A directory of the archive would exceed the format's limits.
    case tooManyTiles
    /// The caller has cancelled.
    case cancelled
    /// The tiles could not be encoded.
    case source(SourceError)

    /// The error that a source's error becomes.
    init(_ error: SourceError) { self = error == .cancelled ? .cancelled : .source(error) }
}

// SPDX-License-Identifier: MIT

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

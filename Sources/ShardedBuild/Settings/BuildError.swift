// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import SourceEngine
import SystemSupport

/// Why an image could not be built, in a sentence for people.
public struct BuildError: Error, Sendable, Equatable, CustomStringConvertible {
    public let description: String
    /// Whether the inputs or the options are at fault, and not the machine.
    public let isRefusal: Bool

    public init(_ description: String, isRefusal: Bool = false) {
        (self.description, self.isRefusal) = (description, isRefusal)
    }

    init(_ error: FileError) {
        var text = error.description
        if case .failed(_, let path, _) = error, error.isOutOfSpace {
            let directory = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            text += "; make room in \(directory.joined(separator: "/")), then go on with --resume"
        }
        self.init(text)
    }

    init(_ error: SourceError) {
        switch error {
        case .diskFull(let text): self.init(text + ", with --resume")
        case .stateNotWritable(let text): self.init(text)
        default: self.init(error.description, isRefusal: true)
        }
    }

    init(_ error: ClusteringError) { self.init(SourceError(error)) }

    /// An error in a file of features, with the line.
    init(_ error: GeoJSONError, of path: String) {
        guard case .badFeature(let feature) = error, let line = feature.line else {
            self.init("\(path): \(error.message)", isRefusal: true)
            return
        }
        self.init("\(path):\(line): \(error.message)", isRefusal: true)
    }
}

/// Evaluates an expression that works on files, and converts its errors.
func onDisk<Result>(_ body: @autoclosure () throws(FileError) -> Result) throws(BuildError) -> Result {
    do throws(FileError) { return try body() } catch { throw BuildError(error) }
}

/// Evaluates an expression of the sources' engine, and converts its errors.
func inEngine<Result>(_ body: @autoclosure () throws(SourceError) -> Result) throws(BuildError) -> Result {
    do throws(SourceError) { return try body() } catch { throw BuildError(error) }
}

/// Evaluates an expression of the index, and converts its errors.
func inIndex<Result>(_ body: @autoclosure () throws(ClusteringError) -> Result) throws(BuildError) -> Result {
    do throws(ClusteringError) { return try body() } catch { throw BuildError(error) }
}

// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import Glibc
import ShardedBuild

/// A file of features for a build, read as `import` reads it.
enum InputFile {
    static func input(_ path: String, _ arguments: ParsedArguments) throws -> BuildInput {
        guard path != "-" else {
            throw arguments.usageError("a build reads its files by name, since --resume compares them")
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw FeatureInputError(name: path, number: errno) }
        let modified = status.st_mtim
        return BuildInput(
            name: path, stamp: "\(status.st_size) \(modified.tv_sec) \(modified.tv_nsec)"
        ) { Reader(try FileImport.open(path, arguments)) }
    }

    private final class Reader: BuildReader {
        private var input: FeatureInput

        init(_ input: consuming FeatureInput) { self.input = input }

        func read(_ body: (Span<UInt8>) -> Void) throws -> Bool { try input.read(body) }
    }
}

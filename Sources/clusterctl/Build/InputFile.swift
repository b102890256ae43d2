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
        let (modified, size) = (status.st_mtim, Int(status.st_size))
        let isPlain = status.st_mode & S_IFMT == S_IFREG && !ForeignFile.isForeign(path, arguments)
        return BuildInput(
            name: path, stamp: "\(size) \(modified.tv_sec) \(modified.tv_nsec)", arguments: words(arguments),
            file: isPlain ? BuildInput.PlainFile(path: path, size: size) : nil
        ) { Reader(try FileImport.open(path, arguments)) }
    }

    /// An input that another process has described by its name and these words; nil if it cannot be read.
    static func input(_ path: String, words: [String]) -> BuildInput? {
        let table = Command(
            "input", summary: "", operands: [Operand("INPUT", kind: .file, help: "")],
            options: ImportFlags.readingOptions + ForeignFile.options)
        guard case .run(let arguments)? = try? table.parse(words + ["--", path]) else { return nil }
        return try? input(path, arguments)
    }

    /// The arguments that say how a file is read.
    private static func words(_ arguments: ParsedArguments) -> [String] {
        (ImportFlags.readingOptions + ForeignFile.options).flatMap { option in
            option.valueName == nil
                ? arguments.has(option.name) ? ["--" + option.name] : []
                : arguments.strings(option.name).map { "--\(option.name)=\($0)" }
        }
    }

    private final class Reader: BuildReader {
        private var input: FeatureInput

        init(_ input: consuming FeatureInput) { self.input = input }

        func read(_ body: (Span<UInt8>) -> Void) throws -> Bool { try input.read(body) }
    }
}

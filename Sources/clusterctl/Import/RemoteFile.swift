// SPDX-License-Identifier: MIT
import ClusterClient

/// A file that a web server has. curl, wget or Python fetches it, whichever is installed.
struct RemoteFile {
    let address: String

    /// Nil if the text is not an address of HTTP.
    init?(_ text: String) {
        guard ["http://", "https://"].contains(where: text.lowercased().hasPrefix) else { return nil }
        address = text
    }

    /// The last part of the address's path, or the host if the path is empty.
    var name: String {
        let path = address.drop { $0 != ":" }.prefix { $0 != "?" && $0 != "#" }
        return path.split(separator: "/").last.map(String.init) ?? address
    }

    /// Starts fetching the file.
    func open() throws -> FeatureInput {
        guard
            let (program, words) = Self.programs.lazy.compactMap({ name, words in
                Program.find(name).map { ($0, words) }
            }).first
        else {
            throw Failure(
                message: "\(address) is fetched by curl, wget or python3, none of which is installed")
        }
        guard let process = ChildProcess(program, words + [address]) else {
            throw Failure(message: "\(program) cannot be started")
        }
        let address = address
        return FeatureInput(descriptor: process.output, name: address) { _ in
            guard process.wait() != 0 else { return }
            throw Failure(message: "\(address) cannot be fetched: \(process.lastErrors())")
        }
    }

    private static let programs = [
        ("curl", ["--fail", "--silent", "--show-error", "--location", "--"]),
        ("wget", ["--no-verbose", "--output-document=-", "--"]), ("python3", ["-c", fetching]),
    ]

    private static let fetching = """
        import shutil, sys, urllib.request
        try:
            shutil.copyfileobj(urllib.request.urlopen(sys.argv[1]), sys.stdout.buffer)
        except OSError as error:
            sys.exit(str(error))
        """
}

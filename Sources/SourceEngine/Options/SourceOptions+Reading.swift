// SPDX-License-Identifier: MIT
import JSON

extension SourceOptions {
    /// Reads options, compiling their expressions.
    ///
    /// Missing members keep their defaults. A member that is null, of the wrong type, out of its range or of an
    /// unknown name is rejected with its path.
    public init(reading value: JSONValue?, path: String = "options") throws(SourceError) {
        self.init()
        guard let value else { return }
        guard case .object(let object) = value else {
            throw .invalidParameter(path: path, message: "must be an object")
        }
        for (name, member) in object.members {
            try read(name, member, path: "\(path).\(name)")
        }
        guard minZoom <= maxZoom else {
            throw .invalidParameter(
                path: "\(path).minZoom", message: "must not be above maxZoom, which is \(maxZoom)")
        }
    }

    private mutating func read(_ name: String, _ value: JSONValue, path: String) throws(SourceError) {
        guard let option = SourceOption.named(name) else {
            let names = SourceOption.all.map(\.name).joined(separator: ", ")
            throw .invalidParameter(path: path, message: "is not an option; valid options are \(names)")
        }
        try option.read(&self, value, path)
    }
}

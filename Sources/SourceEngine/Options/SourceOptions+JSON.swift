// SPDX-License-Identifier: MIT
import JSON

extension SourceOptions {
    /// The options as JSON: always those with a default, the others if they were given.
    ///
    /// Reading the result again gives the same options.
    public var json: JSONValue {
        .object(
            JSONObject(
                SourceOption.all.compactMap { option in
                    option.write(self).map { (key: option.name, value: $0) }
                }))
    }
}

// SPDX-License-Identifier: MIT
import JSON
import SourceEngine

/// A source's options: what is accepted is written so that it reads the same again.
final class OptionsTarget: FuzzTarget {
    func take(_ input: UnsafeRawBufferPointer) {
        guard let value = try? JSONReader.parse(input) else { return }
        do throws(SourceError) {
            let written = try SourceOptions(reading: value).json
            let again = try SourceOptions(reading: written)
            if again.json.text != written.text { violated("options read again are written as before") }
        } catch {
            if error.description.isEmpty { violated("a rejection says why") }
        }
    }
}

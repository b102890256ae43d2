// SPDX-License-Identifier: MIT
import GeoJSON
import Glibc
import JSON

/// The reader of feature files: collections, lines, sequences, gzip. What it accepts can be written again.
final class FeatureTarget: FuzzTarget {
    private let descriptor: Int32

    init() {
        let name = "/dev/shm/clusterd-fuzz-\(getpid())"
        descriptor = open(name, O_RDWR | O_CREAT | O_EXCL, 0o600)
        unlink(name)
        if descriptor < 0 { violated("a scratch file can be made") }
    }

    func take(_ input: UnsafeRawBufferPointer) {
        ftruncate(descriptor, 0)
        guard pwrite(descriptor, input.baseAddress, input.count, 0) == input.count else { return }
        for policy in [InvalidFeaturePolicy.skip, .reject] {
            lseek(descriptor, 0, SEEK_SET)
            var builder = FeatureStoreBuilder(policy: policy, promoteId: policy == .skip ? "a" : nil)
            do throws(GeoJSONError) {
                // Small windows are quick to make, and cut features in many places.
                try FeatureFileReader.read(
                    descriptor: descriptor, into: &builder, windowSize: policy == .skip ? 4096 : 61)
            } catch { continue }
            let store = builder.finish()
            var bytes = ByteWriter()
            for place in 0..<store.count {
                bytes.truncate(to: 0)
                store.write(place, into: &bytes)
                if !isObject(bytes.bytes) { violated("an accepted feature is written as JSON") }
                let (longitude, latitude) = store.coordinates(place)
                if !(abs(longitude) <= 180 && abs(latitude) <= 90) { violated("a feature is on the map") }
            }
        }
    }

    private func isObject(_ text: [UInt8]) -> Bool {
        if case .object? = try? JSONReader.parse(text) { return true }
        return false
    }
}

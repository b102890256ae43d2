// SPDX-License-Identifier: MIT
import ClusterClient
import JSON

/// The features of a source at one revision, as the daemon streams them.
struct FeatureStream {
    let client: Client
    let params: JSONObject
    let options: CallOptions

    /// Lends each feature's text, in order.
    ///
    /// - Parameter revision: the required revision; nil for the current one.
    /// - Returns: the revision and the number of features.
    func forEach(
        revision: Double? = nil, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> (revision: Double, count: Int) {
        var params = params
        if let revision { params["revision"] = .number(revision) }
        let parser = JSONParser()
        var (number, count) = (0.0, 0)
        for try await page in try client.openServerStream(
            "SourceService/GetFeatures", CallParams(params), options: options)
        {
            try page.bytes.withUnsafeBytes { bytes in
                try parser.withTape(of: bytes, maximumDepth: JSONReader.maximumDepth + 4) { tape in
                    number = tape.root["revision"]?.number ?? number
                    guard let features = tape.root["features"] else { return }
                    for feature in features.elements {
                        count += 1
                        try body(feature.rawText)
                    }
                }
            }
        }
        return (number, count)
    }
}

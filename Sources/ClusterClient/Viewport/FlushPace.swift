// SPDX-License-Identifier: MIT

/// How many markers an app is handed at once, so that its map stays fluid: as many as it takes on within part
/// of a frame.
///
/// How long it takes for one is learnt from what it took for those before, through a low-pass filter: one that
/// was slow by chance changes little, an app that has become slower changes all.
public struct FlushPace: Sendable {
    /// From one batch to the next.
    public var frame: Duration
    /// The part of a frame, above 0 and up to 1, that the app may spend on markers.
    public var share: Double
    /// How much the newest batch counts against all before, above 0 and up to 1.
    public var smoothing: Double
    /// Bounds of a batch.
    public var batches: ClosedRange<Int>
    /// What a marker takes, in seconds.
    private(set) var secondsPerMarker: Double

    /// - Parameter markerDuration: the assumption until the first batch has been measured.
    public init(
        frame: Duration = .milliseconds(16), share: Double = 0.5, smoothing: Double = 0.2,
        batches: ClosedRange<Int> = 1...1000, markerDuration: Duration = .microseconds(200)
    ) {
        self.frame = frame
        self.share = share
        self.smoothing = smoothing
        self.batches = batches
        secondsPerMarker = markerDuration / .seconds(1)
    }

    /// How many markers the next batch has at most.
    public var batch: Int {
        let budget = (frame / .seconds(1)) * share
        guard secondsPerMarker > 0, budget > 0 else { return batches.upperBound }
        let count = budget / secondsPerMarker
        return count >= Double(batches.upperBound)
            ? batches.upperBound : max(batches.lowerBound, Int(count))
    }

    /// The app has taken on a batch.
    public mutating func took(_ duration: Duration, for markers: Int) {
        guard markers > 0 else { return }
        // An app that was stopped for an hour is not slow.
        let seconds = min(max(0, duration / .seconds(1)), Self.longest) / Double(markers)
        secondsPerMarker += smoothing * (seconds - secondsPerMarker)
    }

    private static let longest = 1.0
}

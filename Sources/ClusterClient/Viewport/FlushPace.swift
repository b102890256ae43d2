// SPDX-License-Identifier: MIT

/// Limits how many markers an app receives at once, so that its map stays fluid: as many as it can apply
/// within part of a frame.
///
/// The time per marker is estimated from earlier batches with a low-pass filter: a single batch that is slow
/// by chance changes little, while a lasting change takes full effect.
public struct FlushPace: Sendable {
    /// The interval between batches.
    public var frame: Duration
    /// The part of a frame, above 0 and up to 1, that the app may spend on markers.
    public var share: Double
    /// The weight of the newest batch against all earlier ones, above 0 and up to 1.
    public var smoothing: Double
    /// The minimum and maximum number of markers in a batch.
    public var batches: ClosedRange<Int>
    /// The time that the app takes for a marker, in seconds.
    private(set) var secondsPerMarker: Double

    /// - Parameter markerDuration: the assumed time per marker until the first batch has been measured.
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

    /// The maximum number of markers in the next batch.
    public var batch: Int {
        let budget = (frame / .seconds(1)) * share
        guard secondsPerMarker > 0, budget > 0 else { return batches.upperBound }
        let count = budget / secondsPerMarker
        return count >= Double(batches.upperBound)
            ? batches.upperBound : max(batches.lowerBound, Int(count))
    }

    /// Records that the app has applied a batch.
    public mutating func took(_ duration: Duration, for markers: Int) {
        guard markers > 0 else { return }
        // An app that was suspended for an hour is not slow.
        let seconds = min(max(0, duration / .seconds(1)), Self.longest) / Double(markers)
        secondsPerMarker += smoothing * (seconds - secondsPerMarker)
    }

    private static let longest = 1.0
}

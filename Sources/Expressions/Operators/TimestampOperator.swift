// SPDX-License-Identifier: MIT
import JSON

/// `to-timestamp`: a moment as milliseconds since 1970-01-01T00:00Z.
enum TimestampOperator {
    static let definitions: [String: OperatorDefinition] = [
        "to-timestamp": OperatorDefinition(
            Signature(.number, .fixed([.value])) { arguments, _ throws(EvaluationError) in
                if case .number = arguments[0] { return arguments[0] }
                if case .string(let text) = arguments[0], let moment = Timestamp.milliseconds(text) {
                    return .number(Double(moment))
                }
                throw EvaluationError("Could not convert \(Conversion.json(arguments[0])) to timestamp.")
            })
    ]
}

/// Reads the date-times of RFC 3339. Without an offset they are in UTC, and without a time they are midnight.
enum Timestamp {
    /// Milliseconds since 1970; nil if the text is neither a date nor a date-time.
    /// Decimals of a second beyond milliseconds are cut off.
    static func milliseconds(_ text: String) -> Int? {
        var text = text
        return text.withUTF8 { bytes in
            var reader = Reader(bytes: bytes)
            return reader.moment()
        }
    }

    private struct Reader {
        let bytes: UnsafeBufferPointer<UInt8>
        private var position = 0

        init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

        mutating func moment() -> Int? {
            guard let year = digits(4), skip("-"), let month = digits(2), skip("-"), let day = digits(2),
                (1...12).contains(month), day >= 1, day <= Self.days(inMonth: month, year)
            else { return nil }
            let midnight = Self.daysSince1970(year, month, day) * 86_400_000
            guard position < bytes.count else { return midnight }
            guard skip("T") || skip("t"), let hour = digits(2), skip(":"), let minute = digits(2), skip(":"),
                let second = digits(2), hour < 24, minute < 60, second <= 60,
                let fraction = fraction(), let offset = offset(), position == bytes.count
            else { return nil }
            let start = midnight + (hour * 60 + minute - offset) * 60_000
            // Leap seconds end days in UTC. They are the same milliseconds as the second after them, as in Unix time.
            guard second < 60 || (start + 60_000) % 86_400_000 == 0 else { return nil }
            return start + second * 1000 + fraction
        }

        /// A number of exactly so many digits.
        private mutating func digits(_ count: Int) -> Int? {
            guard bytes.count - position >= count else { return nil }
            var number = 0
            for _ in 0..<count {
                guard let digit = digit() else { return nil }
                number = number * 10 + digit
            }
            return number
        }

        private mutating func digit() -> Int? {
            guard position < bytes.count, case UInt8(ascii: "0")...UInt8(ascii: "9") = bytes[position] else {
                return nil
            }
            defer { position += 1 }
            return Int(bytes[position] - UInt8(ascii: "0"))
        }

        private mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
            position += 1
            return true
        }

        /// The milliseconds of a second's decimals, 0 without any; nil if no digit follows the point.
        private mutating func fraction() -> Int? {
            guard skip(".") else { return 0 }
            var (milliseconds, weight) = (0, 100)
            guard let first = digit() else { return nil }
            milliseconds = first * weight
            while let digit = digit() {
                weight /= 10
                milliseconds += digit * weight
            }
            return milliseconds
        }

        /// The minutes by which a local time is ahead of UTC; nil if what follows is not an offset.
        private mutating func offset() -> Int? {
            if position == bytes.count || skip("Z") || skip("z") { return 0 }
            let isBehind = skip("-")
            guard isBehind || skip("+"), let hours = digits(2), skip(":"), let minutes = digits(2), hours < 24,
                minutes < 60
            else { return nil }
            return (isBehind ? -1 : 1) * (hours * 60 + minutes)
        }

        private static func days(inMonth month: Int, _ year: Int) -> Int {
            switch month {
            case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
            case 4, 6, 9, 11: 30
            default: 31
            }
        }

        /// The number of days from 1970-01-01 in the Gregorian calendar, also before it was introduced.
        private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
            // Years begin in March here, so that a leap day is the last of its year.
            let marchYear = month > 2 ? year : year - 1
            let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
            // 400 years are added, because year 0 would round towards zero otherwise.
            let (shifted, daysOfFourCenturies) = (marchYear + 400, 146_097)
            let leapDays = shifted / 4 - shifted / 100 + shifted / 400
            return shifted * 365 + leapDays + dayOfYear - daysOfFourCenturies - 719_468
        }
    }
}

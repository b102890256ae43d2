// SPDX-License-Identifier: MIT

/// Symbols of currencies as languages write them, by the Unicode consortium's locale data: those without one
/// by their code, and as English does for languages that are not here.
enum CurrencySymbols {
    static func symbol(of code: String, in locale: NumberLocale) -> String {
        for name in [locale.name, locale.language, NumberLocale.english.language] {
            guard let habit = habits[name] else { continue }
            if let symbol = habit.own[code] { return symbol }
            return habit.codes.contains(code) ? code : common[code] ?? code
        }
        return common[code] ?? code
    }

    /// Where a language differs from most.
    private struct Habit: Sendable {
        /// What it writes by its code.
        let codes: Set<String>
        let own: [String: String]

        init(_ codes: String = "", _ own: [String: String] = [:]) {
            self.codes = Set(codes.split(separator: " ").map(String.init))
            self.own = own
        }
    }

    /// In most languages.
    private static let common = [
        "USD": "US$", "EUR": "€", "GBP": "£", "JPY": "¥", "CNY": "CN¥", "INR": "₹", "KRW": "₩",
        "BRL": "R$", "CAD": "CA$", "NZD": "NZ$", "MXN": "MX$", "ILS": "₪", "VND": "₫", "TWD": "NT$",
        "HKD": "HK$", "XAF": "FCFA", "XCD": "EC$", "XOF": "F\u{202f}CFA", "XPF": "CFPF", "XXX": "¤",
    ]

    private static let habits: [String: Habit] = [
        "en": Habit("", ["USD": "$", "AUD": "A$", "PHP": "₱"]),
        "en-GB": Habit("", ["JPY": "JP¥", "AUD": "A$", "PHP": "₱"]),
        "en-IN": Habit("", ["USD": "$", "JPY": "JP¥", "AUD": "A$", "PHP": "₱"]),
        "en-CA": Habit("", ["JPY": "JP¥", "CAD": "$", "AUD": "A$", "PHP": "₱"]),
        "en-AU": Habit(
            "USD EUR GBP JPY CNY INR KRW BRL CAD NZD MXN ILS VND TWD HKD XAF XCD XOF",
            ["AUD": "$", "XPF": "CFP"]),
        "en-NZ": Habit("", ["JPY": "JP¥", "AUD": "A$", "NZD": "$", "PHP": "₱"]),
        "en-IE": Habit("", ["JPY": "JP¥", "AUD": "A$", "PHP": "₱"]),
        "en-ZA": Habit("", ["JPY": "JP¥", "AUD": "A$", "ZAR": "R", "PHP": "₱"]),
        "de": Habit("", ["USD": "$", "AUD": "AU$", "THB": "฿"]),
        "de-CH": Habit("EUR", ["USD": "$", "AUD": "AU$", "THB": "฿"]),
        "de-LI": Habit("EUR", ["USD": "$", "AUD": "AU$", "THB": "฿"]),
        "fr": Habit(
            "JPY CNY TWD HKD XCD",
            [
                "USD": "$US", "GBP": "£GB", "CAD": "$CA", "AUD": "$AU", "NZD": "$NZ", "MXN": "$MX",
                "XPF": "FCFP",
            ]),
        "fr-CA": Habit(
            "INR KRW MXN ILS VND TWD XAF XCD XOF XPF",
            ["USD": "$\u{a0}US", "CAD": "$", "AUD": "$\u{a0}AU", "NZD": "$\u{a0}NZ", "HKD": "$\u{a0}HK"]),
        "es": Habit("GBP JPY CNY INR KRW BRL CAD NZD MXN ILS TWD HKD XAF XCD XOF", ["THB": "฿"]),
        "es-MX": Habit("USD EUR GBP JPY CNY INR KRW BRL CAD NZD ILS VND TWD HKD XAF XCD XOF", ["MXN": "$"]),
        "es-AR": Habit("EUR GBP JPY CNY INR KRW BRL CAD NZD MXN ILS VND TWD HKD XAF XCD XOF"),
        "es-CL": Habit("EUR GBP JPY CNY INR KRW BRL CAD NZD MXN ILS VND TWD HKD XAF XCD XOF"),
        "es-CO": Habit("EUR GBP JPY CNY INR KRW BRL CAD NZD MXN ILS VND TWD HKD XAF XCD XOF"),
        "es-US": Habit("EUR GBP CNY INR KRW BRL CAD NZD MXN ILS VND TWD HKD XAF XCD XOF", ["USD": "$"]),
        "es-PE": Habit("USD EUR GBP JPY CNY INR KRW BRL CAD NZD MXN ILS VND TWD HKD XAF XCD XOF"),
        "it": Habit("USD JPY INR KRW BRL MXN VND TWD HKD", ["AUD": "A$", "THB": "฿", "PHP": "₱"]),
        "pt": Habit("", ["JPY": "JP¥", "AUD": "AU$", "THB": "฿"]),
        "nl": Habit("XPF", ["JPY": "JP¥", "CAD": "C$", "AUD": "AU$", "THB": "฿"]),
        "sv": Habit(
            "GBP JPY CNY INR KRW NZD VND TWD HKD",
            ["BRL": "BR$", "SEK": "kr", "NOK": "Nkr", "DKK": "Dkr", "ISK": "Ikr", "EGP": "EG£"]),
        "da": Habit("", ["JPY": "JP¥", "AUD": "AU$", "DKK": "kr.", "THB": "฿"]),
        "nb": Habit("USD JPY CNY INR KRW BRL CAD NZD MXN ILS VND TWD HKD XAF XCD XPF", ["NOK": "kr"]),
        "nn": Habit("USD GBP JPY CNY INR KRW BRL CAD NZD MXN ILS VND TWD HKD XAF XCD XPF", ["NOK": "kr"]),
        "no": Habit("USD JPY CNY INR KRW BRL CAD NZD MXN ILS VND TWD HKD XAF XCD XPF", ["NOK": "kr"]),
        "fi": Habit("CNY INR KRW BRL CAD NZD MXN ILS VND TWD HKD XCD XPF", ["USD": "$"]),
        "is": Habit("USD EUR GBP INR KRW BRL CAD NZD MXN VND TWD", ["JPY": "JP¥", "ISK": "kr."]),
        "pl": Habit("USD GBP JPY CNY INR KRW CAD NZD MXN ILS VND TWD HKD", ["PLN": "zł"]),
        "cs": Habit("INR ILS VND", ["JPY": "JP¥", "AUD": "AU$", "CZK": "Kč"]),
        "sk": Habit("USD GBP JPY CNY INR KRW BRL CAD NZD VND TWD HKD", ["ILS": "NIS"]),
        "hu": Habit("USD EUR GBP CNY INR KRW BRL CAD NZD MXN ILS VND TWD HKD XCD", ["HUF": "Ft"]),
        "ro": Habit("USD EUR GBP JPY CNY INR KRW BRL CAD NZD MXN ILS VND TWD HKD XCD"),
        "bg": Habit(
            "GBP JPY CNY INR KRW BRL CAD NZD MXN ILS VND TWD HKD XCD", ["USD": "щ.д.", "BGN": "лв."]),
        "hr": Habit("USD GBP JPY CNY INR KRW BRL CAD NZD MXN ILS VND TWD HKD XCD XPF"),
        "sl": Habit("GBP BRL CAD NZD MXN TWD XCD", ["USD": "$"]),
        "sr": Habit("KRW NZD VND"),
        "uk": Habit("USD EUR GBP CNY INR KRW BRL CAD NZD MXN ILS VND TWD HKD XCD", ["UAH": "₴"]),
        "ru": Habit("", ["USD": "$", "AUD": "A$", "RUB": "₽", "UAH": "₴", "THB": "฿"]),
        "be": Habit("BRL CAD NZD", ["USD": "$", "AUD": "A$", "RUB": "₽"]),
        "lt": Habit("USD GBP JPY CNY INR KRW BRL CAD NZD MXN ILS VND TWD HKD XAF XCD XOF XPF"),
        "lv": Habit("", ["USD": "$", "AUD": "AU$", "THB": "฿"]),
        "et": Habit("", ["USD": "$", "AUD": "AU$", "THB": "฿"]),
        "el": Habit("", ["USD": "$", "JPY": "JP¥", "AUD": "A$", "THB": "฿"]),
        "tr": Habit("", ["USD": "$", "AUD": "AU$", "TRY": "₺", "THB": "฿"]),
        "ca": Habit("USD CNY BRL CAD MXN XCD", ["AUD": "AU$", "THB": "฿"]),
        "gl": Habit("XCD", ["USD": "$", "JPY": "JP¥", "AUD": "A$", "MXN": "$MX", "THB": "฿"]),
        "eu": Habit("", ["JPY": "JP¥", "AUD": "A$", "THB": "฿"]),
        "ja": Habit("", ["USD": "$", "JPY": "￥", "CNY": "元", "AUD": "A$"]),
        "zh": Habit("", ["JPY": "JP¥", "CNY": "¥", "AUD": "AU$"]),
        "zh-TW": Habit("", ["KRW": "￦", "AUD": "AU$", "TWD": "$"]),
        "zh-HK": Habit("", ["AUD": "AU$"]),
        "ko": Habit("", ["JPY": "JP¥", "AUD": "AU$"]),
        "hi": Habit("", ["USD": "$", "JPY": "JP¥", "AUD": "A$", "THB": "฿"]),
        "id": Habit("", ["JPY": "JP¥", "INR": "Rs", "AUD": "AU$", "THB": "฿", "IDR": "Rp"]),
        "ms": Habit("USD CAD MXN", ["JPY": "JP¥", "AUD": "A$"]),
        "vi": Habit("", ["AUD": "AU$", "THB": "฿"]),
        "th": Habit("", ["AUD": "AU$", "THB": "฿"]),
    ]
}

// SPDX-License-Identifier: MIT

/// The marks of a locale's numbers, by the Unicode consortium's locale data.
struct NumberMarks: Sendable {
    var group: String
    var decimal: String
    let minus: String
    /// Digits before the first mark that groups them: with 2, 1234 is not grouped.
    let leading: Int
    /// Whether digits beyond the last three are grouped by two.
    let isIndian: Bool
    /// The digit of no value; the others follow it.
    let zero: Unicode.Scalar

    private init(
        _ group: String, _ decimal: String, minus: String = "-", leading: Int = 1, isIndian: Bool = false,
        zero: Unicode.Scalar = "0"
    ) {
        self.group = group
        self.decimal = decimal
        self.minus = minus
        self.leading = leading
        self.isIndian = isIndian
        self.zero = zero
    }

    /// - Parameter name: a language, or a language and a region; nil where they write as English does.
    init?(of name: String) {
        guard let marks = Self.byName[name] else { return nil }
        self = marks
    }

    static let english = NumberMarks(",", ".")

    /// The digits 0 to 9 of ASCII in the locale's own.
    func localized(_ text: String) -> String {
        guard zero != "0" else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let digit = ("0"..."9").contains(scalar) ? scalar.value - 0x30 : nil
            result.append(digit.flatMap { Unicode.Scalar(zero.value + $0) } ?? scalar)
        }
        return String(result)
    }

    private static let byName: [String: NumberMarks] = {
        var all: [String: NumberMarks] = [:]
        for (marks, names) in habits {
            for name in names.split(separator: " ") { all[String(name)] = marks }
        }
        return all
    }()

    private static let (space, narrow) = ("\u{a0}", "\u{202f}")

    private static let habits: [(NumberMarks, String)] = [
        (
            NumberMarks(",", "."),
            "es-BR es-BZ es-CU es-DO es-GT es-HN es-MX es-NI es-PA es-PE es-PR es-SV es-US es-419 ta-MY ta-SG"
        ),
        (
            NumberMarks(".", ","),
            """
            ast az bs ca da de dsb el fur fy gl hsb id is jgo jv kgp kkj kl ku lb lij ln lo lu mgh mk mua nds nl \
            nnh pms pt rn ro rw sc scn seh sg sr su tr vi vmw wo yrl en-AT en-BE en-DE en-DK en-ES en-ID en-IT en-NL \
            en-PL en-RO en-SI es-AR es-BO es-CL es-CO es-EC es-PY es-UY es-VE fr-LU fr-MA ms-BN ms-ID qu-BO sw-CD
            """
        ),
        (NumberMarks(".", ",", leading: 2), "es ia it"),
        (NumberMarks(".", ",", minus: "\u{2212}"), "eu fo hr"),
        (NumberMarks(".", ",", minus: "\u{2212}", leading: 2), "sl"),
        (NumberMarks(".", ",", minus: "\u{200e}-"), "ar-DZ ar-LY ar-MA ar-TN"),
        (
            NumberMarks(space, ","),
            """
            af agq bas blo br bua cs cv dua dyo ewo ff kab kea kk ksf ky nmg oc os prg ru sah shi sk smn szl tg tk tt \
            tzm uk uz yav zgh de-AT en-CZ en-EE en-FI en-HU en-LT en-LV en-NO en-PT en-SE en-SK en-UA en-ZA \
            es-CR fr-CA pt-AO
            """
        ),
        (
            NumberMarks(space, ",", leading: 2),
            "be bg hu hy ie ka lv pl sq pt-CH pt-CV pt-GQ pt-GW pt-LU pt-MO pt-MZ pt-PT pt-ST pt-TL ru-UA"
        ),
        (NumberMarks(space, ",", minus: "\u{2212}"), "fi ksh lt nb nn no se sv"),
        (NumberMarks(space, ",", minus: "\u{2212}", leading: 2), "et"),
        (NumberMarks(space, "."), "ba dje khq mfe ses twq tyv xh"),
        (NumberMarks(narrow, ","), "eo fr rm vec en-FR en-GE"),
        (NumberMarks("'", ","), "lmo wae"),
        (NumberMarks("'", "."), "tn de-CH de-LI en-CH"),
        (NumberMarks("'", ".", leading: 2), "it-CH"),
        (NumberMarks("'", ".", minus: "\u{2212}"), "gsw"),
        (NumberMarks(",", ".", leading: 2), "ee"),
        (NumberMarks(",", ".", minus: "\u{200e}-"), "ar he ur"),
        (NumberMarks(",", ".", isIndian: true), "brx gu hi kok kxv ml or pa ta te xnr en-IN"),
        (NumberMarks(",", ".", isIndian: true, zero: "\u{966}"), "mr ne sa"),
        (NumberMarks(",", ".", zero: "\u{966}"), "bgc bho raj"),
        (NumberMarks(",", ".", isIndian: true, zero: "\u{9e6}"), "as bn"),
        (NumberMarks(",", ".", zero: "\u{9e6}"), "mni"),
        (NumberMarks(",", ".", isIndian: true, zero: "\u{f20}"), "dz"),
        (NumberMarks(",", ".", zero: "\u{1040}"), "my"),
        (NumberMarks(",", ".", isIndian: true, zero: "\u{11136}"), "ccp"),
        (NumberMarks(",", ".", zero: "\u{1c50}"), "sat"),
        (NumberMarks("\u{60c}", ".", zero: "\u{7c0}"), "nqo"),
        (NumberMarks("\u{66c}", ".", minus: "\u{61c}-", zero: "\u{660}"), "sd"),
        (NumberMarks("\u{66c}", "\u{66b}", minus: "\u{200f}-", zero: "\u{660}"), "ckb"),
        (
            NumberMarks("\u{66c}", "\u{66b}", minus: "\u{61c}-", zero: "\u{660}"),
            """
            ars ar-BH ar-DJ ar-EG ar-ER ar-IL ar-IQ ar-JO ar-KM ar-KW ar-LB ar-MR ar-OM ar-PS ar-QA ar-SA \
            ar-SD ar-SO ar-SS ar-SY ar-TD ar-YE
            """
        ),
        (
            NumberMarks("\u{66c}", "\u{66b}", minus: "\u{200e}-\u{200e}", zero: "\u{6f0}"),
            "ks lrc mzn ps pa-PK ur-IN uz-AF"
        ),
        (NumberMarks("\u{66c}", "\u{66b}", minus: "\u{200e}\u{2212}", zero: "\u{6f0}"), "fa"),
    ]
}

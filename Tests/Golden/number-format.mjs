// SPDX-License-Identifier: MIT
// Prints how JavaScript writes numbers in many languages, one case a line: `node number-format.mjs > number-format.jsonl`.

const locales = `en en-GB en-IN en-CA en-AU en-ZA de de-AT de-CH fr fr-CH es es-MX es-AR it it-CH pt pt-PT nl sv da nb fi is pl
  cs sk hu ro bg hr sl sr uk ru be lt lv et el tr ca gl eu ja zh zh-TW ko hi id ms vi th ar ar-EG he ur bn mr te gu sw af cy hy az kk
  uz mn my si th-u-nu-thai hi-u-nu-deva en-u-nu-roman xx`.split(/\s+/);
const styles = [
  {}, { minimumFractionDigits: 2, maximumFractionDigits: 2 }, { maximumFractionDigits: 1 }, { currency: "EUR" }, { currency: "USD" },
  { currency: "JPY" }, { currency: "KWD", maximumFractionDigits: 2 }, { unit: "kilometer" }, { unit: "celsius" }, { unit: "kilometer-per-hour" },
];
const numbers = [1234.5, -1234567.891, 0, 21, 1e21, 0.0005];

let turn = 0;
for (const locale of locales) {
  for (const style of styles) {
    const x = numbers[turn++ % numbers.length];
    const kind = style.currency ? "currency" : style.unit ? "unit" : "decimal";
    const result = new Intl.NumberFormat(locale, { style: kind, ...style }).format(x);
    const options = { locale };
    if (style.currency) options.currency = style.currency;
    if (style.unit) options.unit = style.unit;
    if (style.minimumFractionDigits) options["min-fraction-digits"] = style.minimumFractionDigits;
    if (style.maximumFractionDigits) options["max-fraction-digits"] = style.maximumFractionDigits;
    console.log(JSON.stringify({ expression: ["number-format", ["get", "x"], options], properties: { x }, result }));
  }
}

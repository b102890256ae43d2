// SPDX-License-Identifier: MIT
// Prints what JavaScript makes of random values, one case a line: `node javascript.mjs > javascript.jsonl`.

let state = 2024;
const random = () => {
  state = (state + 0x6d2b79f5) | 0;
  let bits = Math.imul(state ^ (state >>> 15), 1 | state);
  bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
  return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
};
const below = (limit) => Math.floor(random() * limit);
const pick = (list) => list[below(list.length)];
const joined = (parts, most) => Array.from({ length: 1 + below(most) }, () => pick(parts)).join("");

const kinds = [];
const kind = (count, make) => kinds.push({ count, make });
const get = (name) => ["get", name];

const number = () => pick([
  () => below(2000) - 1000, () => (below(2000) - 1000) / 2, () => (below(2e7) - 1e7) / 10 ** below(8),
  () => (random() - 0.5) * 10 ** (below(60) - 30), () => 2 ** (below(200) - 100), () => pick([0, 1e21, 1e-7, 5e-324]),
])();
const letters = ["a", "B", "é", "e\u0301", "😀", "ß", "ŉ", "ﬁ", "Σ", "İ", "ǆ", "\uffff", "市", " ", ".", "1", "\u0345"];
const text = () => joined(letters, 6);

// Text to numbers and back.
const digits = ["0", "1", "7", "9", ".", "e", "E", "+", "-", "_", " ", "\n", "\u00a0", "\ufeff", "\u0085", "٣", "Infinity"];
const numeral = () => pick([
  () => joined(digits, 5), () => `${below(1e9)}.${below(1e9)}e${below(700) - 350}`,
  () => "0x" + joined([..."0123456789abcdefABCDEF"], 20), () => "0o" + joined([..."01234567"], 24),
  () => "0b" + joined(["0", "1"], 64),
])();
kind(120, () => {
  const s = numeral(), value = Number(s);
  return Number.isNaN(value)
    ? [["to-number", get("s")], { s }, { error: `Could not convert ${JSON.stringify(s)} to number.` }]
    : [["to-string", ["to-number", get("s")]], { s }, String(value)];
});
kind(60, () => { const x = number(); return [["to-string", get("x")], { x }, String(x)]; });

const keys = ["b", "10", "2", "01", "4294967294", "4294967295", "", "e\u0301", "é", "\"", "\u2028", "\u0007", "/"];
const value = (depth) => pick([
  () => null, () => below(2) === 0, number, text, ...(depth ? [
    () => Array.from({ length: below(4) }, () => value(depth - 1)),
    () => Object.fromEntries(Array.from({ length: below(6) }, () => [joined(keys, 2), value(depth - 1)])),
  ] : []),
])();
kind(40, () => { const v = { o: value(2) }; return [["to-string", get("v")], { v }, JSON.stringify(v)]; });

// Arithmetic that is exact.
const binary = { "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b,
  "%": (a, b) => a % b, min: Math.min, max: Math.max };
const unary = { abs: Math.abs, ceil: Math.ceil, floor: Math.floor, sqrt: Math.sqrt };
kind(80, () => {
  const name = pick(Object.keys(binary)), x = number(), y = number();
  return [["to-string", [name, get("x"), get("y")]], { x, y }, String(binary[name](x, y))];
});
kind(40, () => {
  const name = pick(Object.keys(unary)), x = number();
  return [["to-string", [name, get("x")]], { x }, String(unary[name](x))];
});

// Strings and arrays.
const operators = { "<": (a, b) => a < b, ">=": (a, b) => a >= b, "==": (a, b) => a === b };
const place = () => below(12) - 6 + pick([0, 0, 0.5, -0.3]);
kind(40, () => { const s = text(); return [["upcase", get("s")], { s }, s.toUpperCase()]; });
kind(40, () => { const s = text(); return [["downcase", get("s")], { s }, s.toLowerCase()]; });
kind(40, () => {
  const s = text(), t = text(), name = pick(Object.keys(operators));
  return [[name, get("s"), get("t")], { s, t }, operators[name](s, t)];
});
kind(60, () => {
  const s = text(), from = place(), to = place();
  return [["slice", get("s"), from, to], { s }, [...s].slice(from, to).join("")];
});
kind(40, () => { const s = text(), t = pick(letters); return [["split", get("s"), get("t")], { s, t }, s.split(t)]; });
kind(60, () => {
  const list = Array.from({ length: 5 }, () => pick([1, "1", null, true, "a", 2])), from = place();
  const item = pick([1, "1", null, true, false, "a"]);
  return [["index-of", get("item"), get("list"), from], { list, item }, list.indexOf(item, from)];
});

// Numbers as languages write them.
const languages = ["en-US", "de", "de-AT", "fr", "es", "it", "pt-PT", "sv", "pl", "hi", "en-IN", "mr", "he", "hy", "en-DE"];
kind(120, () => {
  const x = pick([below(1e7) - 5e6, (below(2e9) - 1e9) / 10 ** below(8), (below(2000) - 1000) / 8]);
  const locale = pick(languages), least = below(3), most = least + below(4);
  const options = { minimumFractionDigits: least, maximumFractionDigits: most };
  return [
    ["number-format", get("x"), { locale, "min-fraction-digits": get("least"), "max-fraction-digits": get("most") }],
    { x, least, most }, new Intl.NumberFormat(locale, options).format(x),
  ];
});

for (const { count, make } of kinds) {
  for (let place = 0; place < count; place++) {
    const [expression, properties, result] = make();
    console.log(JSON.stringify({ expression, properties, result }));
  }
}

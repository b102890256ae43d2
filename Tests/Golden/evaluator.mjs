// SPDX-License-Identifier: MIT
// Makes well-typed expressions and features at random, evaluates them as the style specification says, in JavaScript, and prints one
// case a line: `node evaluator.mjs [SEED] [COUNT] > evaluator.jsonl`. An error of evaluation is its message.

let state = Number(process.argv[2] ?? 7);
const count = Number(process.argv[3] ?? 3000);
const random = () => {
  state = (state + 0x6d2b79f5) | 0;
  let bits = Math.imul(state ^ (state >>> 15), 1 | state);
  bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
  return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
};
const below = (limit) => Math.floor(random() * limit);
const pick = (list) => list[below(list.length)];

// ---- values
const numbers = [0, 1, 2, 3, 5, -1, -2.5, 0.5, 2.5, 1e21, 1e-7, 9007199254740992, 1e308, 0.1, 7.25];
const texts = ["", "a", "b", "abc", "é", "e\u0301", "😀x", "1", " 2 ", "0x10", "ß", "a,b", "Σ", "true", "null"];
const scalar = () => pick([() => null, () => random() < 0.5, () => pick(numbers), () => pick(numbers), () => pick(texts), () => pick(texts)])();
const value = () => pick([scalar, scalar, scalar, () => list(scalar), () => ({ a: scalar(), 2: scalar(), b: scalar() })])();
const list = (make) => Array.from({ length: below(4) }, make);
const names = ["a", "b", "c", "d"];
const feature = () => Object.fromEntries(names.filter(() => below(5) > 0).map((name) => [name, value()]));

// ---- types, as messages show them
const typeOf = (v) => {
  if (v === null) return "null";
  if (!Array.isArray(v)) return typeof v;
  const types = new Set(v.map((item, index) => (Array.isArray(item) && v.length > 1 ? `array ${index}` : typeOf(item))));
  const item = types.size === 1 ? [...types][0] : "value";
  return item === "value" ? `array<value, ${v.length}>` : `array<${item}, ${v.length}>`;
};
const text = (v) => (v === null ? "" : typeof v === "object" ? JSON.stringify(v) : String(v));
const fail = (message) => { throw new RangeError(message); };
// Arrays and objects are equal here if their content is, other than in MapLibre. All objects have their keys in one order.
const same = (a, b) => (isScalar(a) || isScalar(b) ? a === b : JSON.stringify(a) === JSON.stringify(b));
const isScalar = (v) => v === null || typeof v !== "object";

// ---- operators: each makes an expression and the function that evaluates it
const operand = (kind, depth) => make[kind](depth);
const call = (name, operands, evaluate) => ({
  json: [name, ...operands.map((o) => o.json)],
  run: (f) => evaluate(...operands.map((o) => o.run(f))),
});
const lazy = (json, run) => ({ json, run });
const literal = (v) => ({ json: v !== null && typeof v === "object" ? ["literal", v] : v, run: () => v });
const get = () => { const name = pick(names); return lazy(["get", name], (f) => (name in f ? f[name] : null)); };
const asserted = (kind) => {
  const inner = [get(), get()].slice(0, 1 + below(2));
  return lazy([kind, ...inner.map((o) => o.json)], (f) => {
    let found;
    for (const o of inner) { found = o.run(f); if (typeOf(found) === kind) return found; }
    fail(`Expected value to be of type ${kind}, but found ${typeOf(found)} instead.`);
  });
};
const choice = (kind) => (depth) => {
  const [test, yes, no] = [operand("boolean", depth), operand(kind, depth), operand(kind, depth)];
  return lazy(["case", test.json, yes.json, no.json], (f) => (test.run(f) ? yes : no).run(f));
};
const match = (kind) => (depth) => {
  const [input, first, other] = [operand("value", depth), operand(kind, depth), operand(kind, depth)];
  const labels = pick([[1, 2], [3], ["a", "é"], ["1"]]);
  return lazy(["match", input.json, labels, first.json, other.json], (f) => {
    const v = input.run(f);
    return (typeof v === typeof labels[0] && labels.includes(v) ? first : other).run(f);
  });
};
const step = (kind) => (depth) => {
  const [input, low, middle, high] = [operand("number", depth), operand(kind, depth), operand(kind, depth), operand(kind, depth)];
  return lazy(["step", input.json, low.json, 0, middle.json, 2.5, high.json], (f) => {
    const v = input.run(f);
    if (Number.isNaN(v)) fail("Input is not a number.");
    return (v < 0 ? low : v < 2.5 ? middle : high).run(f);
  });
};
const bind = (kind) => (depth) => {
  const bound = operand("number", depth);
  const body = operand(kind, depth);
  const used = kind === "number" ? call("+", [body, { json: ["var", "v"], run: (f) => bound.run(f) }], (a, b) => a + b) : body;
  return lazy(["let", "v", bound.json, used.json], used.run);
};
const any = { choice, match, step, bind };
const general = (kind) => Object.values(any).map((make) => make(kind));

const makers = {
  number: [
    ...["+", "*"].map((name) => (d) => call(name, [operand("number", d), operand("number", d), operand("number", d)],
      (a, b, c) => (name === "+" ? a + b + c : a * b * c))),
    (d) => call("-", [operand("number", d), operand("number", d)], (a, b) => a - b),
    (d) => call("-", [operand("number", d)], (a) => -a),
    (d) => call("/", [operand("number", d), operand("number", d)], (a, b) => a / b),
    (d) => call("%", [operand("number", d), operand("number", d)], (a, b) => a % b),
    (d) => call("min", [operand("number", d), operand("number", d)], Math.min),
    (d) => call("max", [operand("number", d), operand("number", d)], Math.max),
    (d) => call("abs", [operand("number", d)], Math.abs),
    (d) => call("ceil", [operand("number", d)], Math.ceil),
    (d) => call("floor", [operand("number", d)], Math.floor),
    (d) => call("sqrt", [operand("number", d)], Math.sqrt),
    (d) => call("round", [operand("number", d)], (v) => (v < 0 ? -Math.round(-v) : Math.round(v))),
    (d) => call("length", [operand("string", d)], (s) => [...s].length),
    (d) => call("length", [operand("value", d)], (v) => (typeof v === "string" ? [...v].length : Array.isArray(v) ? v.length
      : fail(`Expected value to be of type string or array, but found ${typeOf(v)} instead.`))),
    (d) => call("index-of", [operand("string", d), operand("string", d)], (n, s) => {
      const index = s.indexOf(n);
      return index < 0 ? -1 : [...s.slice(0, index)].length;
    }),
    (d) => call("to-number", [operand("value", d)], (v) => {
      if (v === null) return 0;
      const n = Number(v);
      return Number.isNaN(n) ? fail(`Could not convert ${JSON.stringify(v)} to number.`) : n;
    }),
    (d) => {
      const [input, low, high] = [operand("number", d), operand("number", d), operand("number", d)];
      return lazy(["interpolate", ["linear"], input.json, 0, low.json, 5, high.json], (f) => {
        const v = input.run(f);
        if (Number.isNaN(v)) fail("Input is not a number.");
        if (v <= 0) return low.run(f);
        if (v >= 5) return high.run(f);
        const [a, b] = [low.run(f), high.run(f)];
        return a + (v / 5) * (b - a);
      });
    },
    ...general("number"),
  ],
  string: [
    (d) => call("concat", [operand("value", d), operand("value", d), operand("string", d)], (...all) => all.map(text).join("")),
    (d) => call("upcase", [operand("string", d)], (s) => s.toUpperCase()),
    (d) => call("downcase", [operand("string", d)], (s) => s.toLowerCase()),
    (d) => call("to-string", [operand("value", d)], text),
    (d) => call("typeof", [operand("value", d)], typeOf),
    (d) => call("slice", [operand("string", d), operand("number", d)], (s, start) => [...s].slice(start).join("")),
    (d) => call("slice", [operand("string", d), operand("number", d), operand("number", d)], (s, a, b) => [...s].slice(a, b).join("")),
    (d) => call("join", [call("split", [operand("string", d), literal(pick(["a", ",", "é"]))], (s, by) => s.split(by)), operand("string", d)],
      (parts, by) => parts.join(by)),
    ...general("string"),
  ],
  boolean: [
    (d) => { const all = [operand("boolean", d), operand("boolean", d), operand("boolean", d)];
      return lazy(["all", ...all.map((o) => o.json)], (f) => all.every((o) => o.run(f))); },
    (d) => { const all = [operand("boolean", d), operand("boolean", d)];
      return lazy(["any", ...all.map((o) => o.json)], (f) => all.some((o) => o.run(f))); },
    (d) => call("!", [operand("boolean", d)], (v) => !v),
    (d) => call("to-boolean", [operand("value", d)], Boolean),
    ...["==", "!="].map((name) => (d) => call(name, [operand("scalar", d), operand("scalar", d)], (a, b) => same(a, b) === (name === "=="))),
    ...["<", ">", "<=", ">="].map((name) => (d) => call(name, [operand("scalar", d), operand("scalar", d)], (a, b) => {
      if (typeof a !== typeof b || (typeof a !== "string" && typeof a !== "number")) {
        fail(`Expected arguments for "${name}" to be (string, string) or (number, number), `
          + `but found (${typeOf(a).split("<")[0]}, ${typeOf(b).split("<")[0]}) instead.`);
      }
      return name === "<" ? a < b : name === ">" ? a > b : name === "<=" ? a <= b : a >= b;
    })),
    (d) => call("in", [operand("scalar", d), operand("value", d)], (needle, haystack) => {
      if (!haystack) return false;
      if (!isScalar(needle)) fail(`Expected first argument to be of type boolean, string, number or null, but found ${typeOf(needle)} instead.`);
      if (typeof haystack !== "string" && !Array.isArray(haystack)) {
        fail(`Expected second argument to be of type array or string, but found ${typeOf(haystack)} instead.`);
      }
      return haystack.indexOf(needle) >= 0;
    }),
    () => { const name = pick(names); return lazy(["has", name], (f) => name in f); },
    ...general("boolean"),
  ],
};
const leaves = {
  number: () => pick([() => literal(pick(numbers)), () => asserted("number")])(),
  string: () => pick([() => literal(pick(texts)), () => asserted("string")])(),
  boolean: () => pick([() => literal(random() < 0.5), () => asserted("boolean")])(),
};
const make = {
  value: (depth) => (depth <= 0 || below(2) === 0 ? get() : pick(["number", "string", "boolean"].map((kind) => () => coalesced(kind, depth)))()),
  // Of unknown type, so that comparisons check it when they are evaluated.
  scalar: () => get(),
};
// The first that is not null: its type is unknown, as one is a property.
const coalesced = (kind, depth) => {
  const [first, second] = [get(), operand(kind, depth - 1)];
  return lazy(["coalesce", first.json, second.json], (f) => first.run(f) ?? second.run(f));
};
for (const kind of Object.keys(makers)) {
  make[kind] = (depth) => (depth <= 0 || below(5) === 0 ? leaves[kind]() : pick(makers[kind])(depth - 1));
}

const isFinite = (v) => typeof v !== "number" || Number.isFinite(v);
let made = 0;
while (made < count) {
  const expression = operand(pick(["number", "string", "boolean"]), 4);
  const properties = feature();
  let result;
  try { result = expression.run(properties); } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    result = { error: error.message };
  }
  if (!isFinite(result)) continue;
  console.log(JSON.stringify({ expression: expression.json, properties, result: Object.is(result, -0) ? 0 : result }));
  made += 1;
}

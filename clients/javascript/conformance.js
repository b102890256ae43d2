// SPDX-License-Identifier: MIT
// Runs the conformance cases: node conformance.js CASES.json DAEMON SERVERS_FOLDER
// DAEMON is a socket's path or an http:// address; over HTTP only the daemon's cases are run.
import { readFileSync } from "node:fs";
import { Client, ClusterdError } from "./clusterd.js";

class Mismatch extends Error {}

function agrees(value, pattern) {
  if (pattern === "…") return true;
  if (Array.isArray(pattern)) {
    return Array.isArray(value) && value.length === pattern.length && pattern.every((part, n) => agrees(value[n], part));
  }
  if (pattern !== null && typeof pattern === "object") {
    const isObject = value !== null && typeof value === "object" && !Array.isArray(value);
    return isObject && Object.keys(pattern).every((name) => name in value && agrees(value[name], pattern[name]));
  }
  if (typeof pattern === "number") {
    return typeof value === "number" && Math.abs(value - pattern) <= 1e-9 * Math.max(1, Math.abs(pattern));
  }
  return value === pattern;
}

function compare(value, pattern) {
  if (agrees(value, pattern)) return;
  throw new Mismatch(`${(JSON.stringify(value) ?? "nothing").slice(0, 400)} is not ${JSON.stringify(pattern)}`);
}

function compareError(error, { message = "", ...pattern }) {
  if (!(error instanceof ClusterdError)) throw error;
  compare({ status: error.status, details: error.details }, pattern);
  if (!error.message.includes(message)) throw new Mismatch(`the message is ${error.message}`);
}

class Session {
  stream = null;

  constructor(address) {
    this.client = new Client(address);
  }

  async take(step) {
    if (step.call) return this.call(step);
    if (step.together) return Promise.all(step.together.map((call) => this.call(call)));
    if (step.open) {
      const { method, params, timeoutMs } = step.open;
      this.stream = await this.client.stream(method, params, { timeoutMs });
    } else if (step.send) await this.stream.send(step.send);
    else if (step.end) this.stream.end();
    else if (step.cancel) this.stream.cancel();
    else await this.next(step);
  }

  async call({ call: { method, params, items, timeoutMs }, result, error: expected }) {
    let answer;
    try {
      const options = timeoutMs === undefined ? {} : { timeoutMs };
      if (items) answer = await this.client.sendAll(method, params, items, options);
      else answer = await this.client.call(method, params, options);
    } catch (error) {
      if (!expected) throw error;
      return compareError(error, expected);
    }
    if (expected) throw new Mismatch(`answered ${JSON.stringify(answer).slice(0, 400)}`);
    compare(answer, result);
  }

  async next({ item, finished, failed }) {
    let event;
    try {
      event = await this.stream.next();
    } catch (error) {
      if (!failed) throw error;
      return compareError(error, failed);
    }
    if (event.done !== (finished !== undefined)) throw new Mismatch(`the stream gave ${JSON.stringify(event)}`);
    compare(event.value, finished ?? item);
  }
}

const [path, daemon, folder] = process.argv.slice(2);
const { daemon: shared, servers } = JSON.parse(readFileSync(path, "utf8"));
/** Over HTTP an import is a body of features, and a watch needs a WebSocket (Node 22). */
function reasonToSkip({ name, steps }) {
  if (!daemon.startsWith("http")) return null;
  if (name === "import-item-of-wrong-type") return "an import over HTTP has features, not items";
  const isWatch = steps.some((step) => step.open);
  return isWatch && !globalThis.WebSocket ? "this version of Node has no WebSocket" : null;
}

for (const example of daemon.startsWith("http") ? shared : [...shared, ...servers]) {
  const reason = reasonToSkip(example);
  if (reason) {
    console.log(`skip ${example.name}: ${reason}`);
    continue;
  }
  const session = new Session(example.server ? `${folder}/${example.name}.sock` : daemon);
  try {
    for (const step of example.steps) await session.take(step);
    console.log(`ok ${example.name}`);
  } catch (error) {
    console.log(`not ok ${example.name}: ${error}`);
  }
  session.stream?.close();
  await session.client.close();
}

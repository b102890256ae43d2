// SPDX-License-Identifier: MIT
/**
 * A client of clusterd, the daemon that clusters points for maps: over its Unix socket in Node, over HTTP in browsers
 * and in Node. One module without dependencies.
 *
 *     const client = await connect();
 *     const { features } = await client.clusters("cities", { bbox: [-10, 35, 20, 55], zoom: 5 });
 */

// MARK: Errors

const STATUSES = [
  "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
  "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
  "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
];

/** A call has failed: `status` is gRPC's, such as "NOT_FOUND"; `message` says what was wrong and what to do. */
export class ClusterdError extends Error {
  constructor(status, message, details = undefined) {
    super(message);
    this.name = "ClusterdError";
    this.status = STATUSES.includes(status) ? status : "UNKNOWN";
    this.code = STATUSES.indexOf(this.status);
    this.details = details;
  }

  toString() {
    return `${this.status}: ${this.message}`;
  }
}

function errorFromWire(value) {
  if (value === null || typeof value !== "object") {
    return new ClusterdError("UNKNOWN", "the daemon's error cannot be read");
  }
  // Over HTTP `code` is Connect's name and `status` gRPC's.
  const status = typeof value.code === "number" ? STATUSES[value.code] : value.status;
  const message = typeof value.message === "string" ? value.message : "";
  return new ClusterdError(status, message, value.details);
}

const violation = (problem) => new ClusterdError("INTERNAL", `the daemon's answer breaks the protocol: ${problem}`);
const lost = (reason) => new ClusterdError("UNAVAILABLE", `the connection to the daemon was lost: ${reason}`);
const late = () => new ClusterdError("DEADLINE_EXCEEDED", "the daemon did not answer within the timeout");
const cancelled = () => new ClusterdError("CANCELLED", "the call was cancelled");

/** How much longer than the daemon this side waits before it gives up on the daemon itself. */
const GRACE_MS = 250;

// MARK: Streams

/**
 * A call with streams, and the asynchronous iterable of its items. `result` is the last message once they have ended.
 */
export class Stream {
  #events = [];
  #waiter = null;
  #isOver = false;
  #sender;
  #timer;
  #unlisten = () => {};

  /** For transports: `sender` has send(item), end(), cancel(), drained() and close(). */
  constructor(sender, { timeoutMs, signal } = {}) {
    this.#sender = sender;
    this.result = undefined;
    if (timeoutMs !== undefined) this.#timer = setTimeout(() => this.#stop(late()), timeoutMs + GRACE_MS);
    if (signal) {
      const abort = () => this.#stop(cancelled());
      signal.addEventListener("abort", abort, { once: true });
      this.#unlisten = () => signal.removeEventListener("abort", abort);
      if (signal.aborted) queueMicrotask(abort);
    }
  }

  /** How many items wait. */
  get waiting() {
    return this.#events.length;
  }

  /** For transports: the next event, of the kind "item", "end" or "error". */
  push(kind, payload) {
    if (this.#isOver) return;
    this.#events.push({ kind, payload });
    if (kind !== "item") this.#finish();
    this.#wake();
  }

  #stop(error) {
    if (this.#isOver) return;
    this.#sender.cancel();
    this.push("error", error);
  }

  #finish() {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#unlisten();
    this.#sender.close();
  }

  #wake() {
    this.#waiter?.();
    this.#waiter = null;
  }

  /** Sends an item; resolves once there is room for more. */
  async send(item) {
    if (!this.#isOver) await this.#sender.send(item);
  }

  /** Says that no more items follow. */
  end() {
    if (!this.#isOver) this.#sender.end();
  }

  /** Asks the daemon to stop; the iteration then fails with CANCELLED. */
  cancel() {
    if (!this.#isOver) this.#sender.cancel();
  }

  /** Ends the stream on this side; the iteration ends too. */
  close() {
    if (this.#isOver) return;
    this.#sender.cancel();
    this.push("end", undefined);
  }

  async next() {
    while (this.#events.length === 0) {
      if (this.#isOver) return { done: true, value: undefined };
      await new Promise((resolve) => (this.#waiter = resolve));
    }
    const { kind, payload } = this.#events.shift();
    this.#sender.drained();
    if (kind === "item") return { done: false, value: payload };
    if (kind === "error") throw payload;
    this.result = payload;
    return { done: true, value: payload };
  }

  async return() {
    this.close();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator]() {
    return this;
  }
}

// MARK: The Unix socket (Node)

const MAXIMUM_ANSWER_BYTES = 64 << 20;
/** How many items of a stream wait before its connection is read no more. */
const WAITING_ITEMS = 32;

const fullName = (method) => (method.includes(".") ? method : `clusterd.v1.${method}`);

/** Takes frames out of a stream of bytes, however it is cut. */
class FrameReader {
  #chunks = [];
  #length = 0;

  constructor(zlib) {
    this.zlib = zlib;
    this.decoder = new TextDecoder("utf-8", { fatal: true });
  }

  feed(chunk) {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /** The next message, or undefined while it is incomplete. */
  next() {
    if (this.#length > 0 && this.#chunks[0][0] > 1) throw violation(`a frame's flag is ${this.#chunks[0][0]}`);
    if (this.#length < 5) return undefined;
    const prefix = this.#peek(5);
    const length = prefix.readUInt32BE(1);
    if (length > MAXIMUM_ANSWER_BYTES) throw violation(`a frame of ${length} bytes`);
    if (this.#length < 5 + length) return undefined;
    const body = this.#peek(5 + length).subarray(5, 5 + length);
    const rest = this.#chunks[0].subarray(5 + length);
    this.#chunks[0] = rest;
    if (rest.length === 0) this.#chunks.shift();
    this.#length -= 5 + length;
    return this.#message(prefix[0] === 1 ? this.#inflate(body) : body);
  }

  /** The first chunk, joined with others until it has so many bytes. */
  #peek(count) {
    if (this.#chunks[0].length < count) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0];
  }

  #inflate(body) {
    try {
      return this.zlib.inflateSync(body, { maxOutputLength: MAXIMUM_ANSWER_BYTES });
    } catch (error) {
      throw violation(`a compressed frame does not inflate: ${error.message}`);
    }
  }

  #message(text) {
    let message;
    try {
      message = JSON.parse(this.decoder.decode(text));
    } catch (error) {
      throw violation(`a frame is not JSON: ${error.message}`);
    }
    if (message === null || typeof message !== "object" || Array.isArray(message)) {
      throw violation("a frame is not a JSON object");
    }
    return message;
  }
}

/** One connection, which carries any number of calls. */
class SocketConnection {
  #calls = new Map();
  #lastID = 0;
  #reader;
  error = null;

  static async open(path) {
    const [net, zlib] = await Promise.all([import("node:net"), import("node:zlib")]);
    const failures = [];
    for (const candidate of socketPaths(path)) {
      try {
        return new SocketConnection(await connectSocket(net, candidate), zlib);
      } catch (error) {
        failures.push({ candidate, error });
      }
    }
    throw connectError(failures);
  }

  constructor(socket, zlib) {
    this.socket = socket;
    this.#reader = new FrameReader(zlib);
    socket.on("data", (chunk) => this.#receive(chunk));
    socket.on("error", (error) => this.#socketFailed(error));
    socket.on("end", () => this.lose(lost("the daemon closed it")));
    socket.on("close", () => this.lose(lost("the daemon closed it")));
    socket.unref();
  }

  /** A daemon that has closed says why before: what it said is read first. */
  #socketFailed(error) {
    if (error.code !== "EPIPE") this.lose(lost(error.message));
  }

  get openCalls() {
    return this.#calls.size;
  }

  /** Opens a call. `receive(kind, payload)` gets its events. */
  begin(method, params, timeoutMs, streams, receive) {
    if (this.error) throw this.error;
    const id = ++this.#lastID;
    this.#calls.set(id, { streams, receive });
    this.socket.ref();
    const timeout = timeoutMs === undefined ? {} : { timeoutMs: Math.max(1, Math.ceil(timeoutMs)) };
    try {
      this.write({ id, method: fullName(method), params, ...timeout });
    } catch (error) {
      this.#forget(id);
      throw error;
    }
    return id;
  }

  /** Sends a message; false if too much is on its way. */
  write(message) {
    if (this.error) return true;
    const body = Buffer.from(JSON.stringify(message));
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(body.length, 1);
    this.socket.write(prefix);
    return this.socket.write(body);
  }

  async writeItem(id, item) {
    if (!this.#calls.has(id) || this.write({ id, item })) return;
    await new Promise((resolve) => {
      const settle = () => {
        this.socket.off("drain", settle).off("close", settle);
        resolve();
      };
      this.socket.once("drain", settle).once("close", settle);
    });
  }

  /** Cancels the call on the daemon. */
  cancel(id) {
    const call = this.#calls.get(id);
    if (!call || this.error) return;
    call.receive = () => {};
    this.write({ id, cancel: true });
  }

  #forget(id) {
    this.#calls.delete(id);
    if (this.#calls.size === 0) this.socket.unref();
  }

  #receive(chunk) {
    if (this.error) return;
    try {
      this.#reader.feed(chunk);
      for (let message; (message = this.#reader.next()) !== undefined; ) this.#deliver(message);
    } catch (error) {
      this.lose(error);
    }
  }

  #deliver(message) {
    const isOfNoCall = message.id === null || message.id === undefined;
    if ("error" in message && isOfNoCall) throw errorFromWire(message.error);
    // The daemon shuts down: it answers what it has taken, and closes.
    if ("goaway" in message && isOfNoCall) return;
    const call = this.#calls.get(message.id);
    if (!call) throw violation(`an answer to call ${JSON.stringify(message.id)}, which is not open`);
    const kind = ["error", "result", "item", "end"].find((name) => name in message);
    if (kind === undefined) throw violation("a message that is no result, item, end or error");
    if (kind === "item" && !call.streams) throw violation(`an item for call ${message.id}, which has no stream`);
    if (kind !== "item") this.#forget(message.id);
    if (kind === "error") call.receive("error", errorFromWire(message.error));
    else call.receive(kind === "item" ? "item" : "end", message[kind]);
  }

  lose(error) {
    if (this.error) return;
    this.error = error;
    this.socket.destroy();
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const call of calls) call.receive("error", error);
  }
}

function connectSocket(net, path) {
  return new Promise((resolve, reject) => {
    const socket = net.createConnection(path);
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
}

/** The sockets to try, in order. A path that the user names is the only one. */
export function socketPaths(path, environment = process.env) {
  const named = path || environment.CLUSTERD_SOCKET;
  if (named) return [named];
  const session = environment.XDG_RUNTIME_DIR ? [`${environment.XDG_RUNTIME_DIR}/clusterd.sock`] : [];
  return [...session, "/run/clusterd/clusterd.sock"];
}

function connectError(failures) {
  const denied = failures.find(({ error }) => error.code === "EACCES" || error.code === "EPERM");
  if (denied) {
    const hint = "its mode and its group decide who may open it";
    return new ClusterdError("PERMISSION_DENIED", `permission to open the socket ${denied.candidate} is denied; ${hint}`);
  }
  const tried = failures.map(({ candidate, error }) => `${candidate} (${error.code ?? error.message})`).join(", ");
  const hint = "start clusterd, or name its socket in connect or $CLUSTERD_SOCKET";
  return new ClusterdError("UNAVAILABLE", `no daemon answers at ${tried}: ${hint}`);
}

/** Unary calls share a connection, which is replaced when it is lost; each stream has its own. */
class SocketTransport {
  #shared = null;

  constructor(path) {
    this.path = path;
  }

  async unary(method, params, { timeoutMs, signal } = {}) {
    const connection = await this.#connection();
    return new Promise((resolve, reject) => {
      const settle = (kind, payload) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
        if (kind === "error") reject(payload);
        else resolve(payload);
      };
      let id;
      const give = (error) => {
        connection.cancel(id);
        settle("error", error);
      };
      const abort = () => give(cancelled());
      const timer = timeoutMs === undefined ? undefined : setTimeout(() => give(late()), timeoutMs + GRACE_MS);
      if (signal?.aborted) return settle("error", cancelled());
      signal?.addEventListener("abort", abort, { once: true });
      try {
        id = connection.begin(method, params, timeoutMs, false, settle);
      } catch (error) {
        settle("error", error); // the params are not JSON, or the connection was lost
      }
    });
  }

  /** The shared connection, opened if there is none or it was lost. */
  async #connection() {
    while (true) {
      const opening = (this.#shared ??= SocketConnection.open(this.path));
      const connection = await opening.catch((error) => error);
      if (connection instanceof SocketConnection && !connection.error) return connection;
      if (this.#shared === opening) this.#shared = null;
      if (connection instanceof Error) throw connection;
    }
  }

  async stream(method, params, options = {}, streams = true) {
    const connection = await SocketConnection.open(this.path);
    const { socket } = connection;
    let id;
    const stream = new Stream(
      {
        send: (item) => connection.writeItem(id, item),
        end: () => connection.write({ id, end: true }),
        cancel: () => connection.write({ id, cancel: true }),
        drained: () => stream.waiting <= WAITING_ITEMS / 2 && socket.resume(),
        close: () => queueMicrotask(() => connection.lose(lost("this client closed it"))),
      },
      options,
    );
    try {
      id = connection.begin(method, params, options.timeoutMs, streams, (kind, payload) => {
        stream.push(kind, payload);
        if (stream.waiting > WAITING_ITEMS) socket.pause();
      });
    } catch (error) {
      stream.push("error", error);
      throw error;
    }
    return stream;
  }

  async sendAll(method, params, items, options) {
    const stream = await this.stream(method, params, options, false);
    try {
      for await (const item of items) {
        if (stream.waiting > 0) break;
        await stream.send(item);
      }
      stream.end();
      return (await stream.next()).value;
    } finally {
      stream.close(); // nothing if the call is over
    }
  }

  async close() {
    const connection = await this.#shared?.catch(() => null);
    connection?.lose(lost("this client closed it"));
    this.#shared = null;
  }
}

// MARK: HTTP

/** The status that a WebSocket's close code means. */
function statusOfClose(code) {
  if (code > 4000 && code < 4000 + STATUSES.length) return STATUSES[code - 4000];
  return { 1001: "UNAVAILABLE", 1008: "INVALID_ARGUMENT", 1013: "RESOURCE_EXHAUSTED" }[code] ?? "UNAVAILABLE";
}

/** Calls by POST, watches by WebSocket, imports by PUT. */
class HTTPTransport {
  constructor(base, { fetch = globalThis.fetch, WebSocket = globalThis.WebSocket, token } = {}) {
    this.base = base.replace(/\/+$/, "");
    this.token = typeof token === "function" ? token : () => token;
    this.fetch = (...values) => fetch(...values);
    this.WebSocket = WebSocket;
  }

  /** Fields of a request that say who asks. */
  async #identity() {
    const token = await this.token();
    return token ? { Authorization: `Bearer ${token}` } : {};
  }

  async unary(method, params, { timeoutMs, signal } = {}) {
    const headers = { "Content-Type": "application/json" };
    if (timeoutMs !== undefined) headers["Connect-Timeout-Ms"] = String(Math.max(1, Math.ceil(timeoutMs)));
    const init = { method: "POST", headers, body: JSON.stringify(params) };
    return this.#answer(`/${fullName(method)}`, init, timeoutMs, signal);
  }

  /** The JSON that a resource answers, or its error. */
  async #answer(path, init, timeoutMs, signal) {
    const controller = new AbortController();
    let reason = cancelled;
    const abort = () => controller.abort();
    if (signal?.aborted) throw cancelled();
    signal?.addEventListener("abort", abort, { once: true });
    const expire = () => {
      reason = late;
      abort();
    };
    const timer = timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs + GRACE_MS);
    try {
      const headers = { ...init.headers, ...(await this.#identity()) };
      const response = await this.fetch(this.base + path, { ...init, headers, signal: controller.signal });
      const text = await response.text();
      return readResponse(response, text);
    } catch (error) {
      if (error instanceof ClusterdError) throw error;
      throw controller.signal.aborted ? reason() : lost(error.cause?.message ?? error.message);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }

  async stream(method, params, options = {}) {
    if (!method.endsWith("ClusterService/WatchClusters")) {
      const message = `${method} is not offered over HTTP; use the daemon's Unix socket`;
      throw new ClusterdError("UNIMPLEMENTED", message);
    }
    if (!this.WebSocket) {
      const message = "this environment has no WebSocket: use Node 22 or later, or the daemon's Unix socket";
      throw new ClusterdError("UNIMPLEMENTED", message);
    }
    const { pin, ...opening } = params;
    const query = queryOf(opening);
    // A browser's WebSocket has no fields.
    const token = await this.token();
    if (token) query.set("access_token", token);
    const path = `/sources/${encodeURIComponent(params.source)}/watch?${query}`;
    const { stream } = new WatchSocket(this, path, options);
    // As JSON ids stay numbers or strings.
    if (pin !== undefined) stream.send({ bbox: params.bbox, zoom: params.zoom, pin });
    return stream;
  }

  /** Why a WebSocket was not opened, which browsers do not say: the same resource without the upgrade says it. */
  async reasonOf(path) {
    const controller = new AbortController();
    try {
      const headers = { Accept: "text/event-stream" };
      const response = await this.fetch(this.base + path, { headers, signal: controller.signal });
      if (response.ok) return lost("the WebSocket was not opened");
      readResponse(response, await response.text());
    } catch (error) {
      return error instanceof ClusterdError ? error : lost(error.message);
    } finally {
      controller.abort();
    }
    return lost("the WebSocket was not opened");
  }

  async sendAll(method, params, items, { timeoutMs, signal } = {}) {
    if (!method.endsWith("SourceService/ImportFeatures")) {
      throw new ClusterdError("UNIMPLEMENTED", `${method} is not offered over HTTP`);
    }
    const parts = [];
    for await (const item of items) for (const feature of item.features) parts.push(JSON.stringify(feature), "\n");
    const { source, ...query } = params;
    const path = `/sources/${encodeURIComponent(source)}/features?${queryOf(query)}`;
    const headers = { "Content-Type": "application/x-ndjson" };
    return this.#answer(path, { method: "PUT", headers, body: new Blob(parts) }, timeoutMs, signal);
  }

  async close() {}
}

function readResponse(response, text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    if (response.ok) throw violation("the answer is not JSON");
    throw new ClusterdError("UNKNOWN", `HTTP status ${response.status}: ${text.slice(0, 200)}`);
  }
  if (!response.ok) throw errorFromWire(value);
  return value;
}

/** Params as a query: a box, a window and lists of names with commas, expressions as JSON. */
function queryOf(params) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined || name === "source") continue;
    if (name === "window") {
      query.set(name, Object.entries(value).map(([property, ends]) => [property, ...ends].join(",")).join());
      continue;
    }
    const isList = Array.isArray(value) && name !== "filter";
    query.set(name, isList ? value.join(",") : typeof value === "object" ? JSON.stringify(value) : String(value));
  }
  return query;
}

/** A watch over a WebSocket as a stream. */
class WatchSocket {
  #isOpen = false;
  #isClosed = false;
  #ending = null;
  #waiting = [];

  constructor(transport, path, options) {
    const socket = new transport.WebSocket(transport.base.replace(/^http/, "ws") + path);
    this.socket = socket;
    this.stream = new Stream(
      {
        send: (item) => this.#send(JSON.stringify(item)),
        end: () => this.#close("end"),
        cancel: () => this.#close("cancel"),
        drained: () => {},
        close: () => this.#close("end"),
      },
      options,
    );
    socket.onopen = () => {
      this.#isOpen = true;
      for (const text of this.#waiting) socket.send(text);
    };
    socket.onmessage = ({ data }) => this.#receive(data);
    socket.onclose = (event) => this.#closed(transport, path, event);
    // Not every environment closes a WebSocket that could not be opened.
    socket.onerror = () => this.#isOpen || this.#closed(transport, path, { code: 1006, reason: "" });
  }

  async #closed(transport, path, { code, reason }) {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#ending === "cancel") return this.stream.push("error", cancelled());
    if (this.#ending === "end" || code === 1000) return this.stream.push("end", {});
    const error = this.#isOpen ? null : await transport.reasonOf(path);
    this.stream.push("error", error ?? new ClusterdError(statusOfClose(code), reason || `closed with ${code}`));
  }

  #send(text) {
    if (this.#isOpen) this.socket.send(text);
    else this.#waiting.push(text);
  }

  #receive(data) {
    try {
      this.stream.push("item", JSON.parse(data));
    } catch (error) {
      this.stream.push("error", violation(`an item is not JSON: ${error.message}`));
    }
  }

  #close(how) {
    this.#ending ??= how;
    this.socket.close(1000);
  }
}

// MARK: The client

/**
 * A client of the daemon at an address: a socket's path, or "http://host:port". Without one, in Node the first of
 * $CLUSTERD_SOCKET, $XDG_RUNTIME_DIR/clusterd.sock and /run/clusterd/clusterd.sock that answers; in a browser the
 * page's own origin. The daemon must answer.
 */
export async function connect(address, options = {}) {
  const client = new Client(address, options);
  await client.check();
  return client;
}

export class Client {
  #transport;
  #timeoutMs;

  /** `options`: `timeoutMs` for calls that name none; `fetch` and `WebSocket` to use others than the environment's. */
  constructor(address, options = {}) {
    const isBrowser = typeof process === "undefined" || !process.versions?.node;
    const where = address ?? (isBrowser ? globalThis.location.origin : undefined);
    this.#transport = /^https?:/.test(where ?? "") ? new HTTPTransport(where, options) : new SocketTransport(where);
    this.#timeoutMs = options.timeoutMs;
  }

  /** Calls a unary method, such as "ClusterService/GetClusters". `options`: `timeoutMs`, `signal`. */
  call(method, params = {}, options = {}) {
    return this.#transport.unary(method, params, { timeoutMs: this.#timeoutMs, ...options });
  }

  /** Opens a call with streams: a `Stream`. Only a `timeoutMs` given here ends it. */
  stream(method, params = {}, options = {}) {
    return this.#transport.stream(method, params, options);
  }

  /** Calls a method that takes a stream of items, from any iterable. Stops early if the daemon refuses. */
  sendAll(method, params, items, options = {}) {
    return this.#transport.sendAll(method, params, items, { timeoutMs: this.#timeoutMs, ...options });
  }

  /** Closes the connection; calls under way fail with UNAVAILABLE. */
  close() {
    return this.#transport.close();
  }

  /** The clusters and points in a box at a zoom. `query`: the type `ClusterQuery` in clusterd.d.ts has its members. */
  clusters(source, query, options) {
    return this.call("ClusterService/GetClusters", { bbox: WORLD, zoom: 0, ...query, source }, options);
  }

  /** A tile, as supercluster's getTile. */
  tile(source, z, x, y, query = {}, options) {
    return this.call("ClusterService/GetTile", { ...query, source, z, x, y }, options);
  }

  /** A cluster's children on the zoom at which it separates. */
  children(source, clusterId, query = {}, options) {
    return this.call("ClusterService/GetChildren", { ...query, source, clusterId }, options);
  }

  /** A page of a cluster's points. `query`: limit (0 is all), offset, and the members of `ClusterIdQuery`. */
  leaves(source, clusterId, query = {}, options) {
    return this.call("ClusterService/GetLeaves", { ...query, source, clusterId }, options);
  }

  /** The zoom at which a cluster separates. */
  async expansionZoom(source, clusterId, query = {}, options) {
    const params = { ...query, source, clusterId };
    return (await this.call("ClusterService/GetClusterExpansionZoom", params, options)).zoom;
  }

  /** The smallest convex shape around a cluster's points: a Feature. */
  hull(source, clusterId, query = {}, options) {
    return this.call("ClusterService/GetConvexHull", { ...query, source, clusterId }, options);
  }

  /** The cluster or point that shows a feature at a zoom. */
  locate(source, featureId, zoom, query = {}, options) {
    return this.call("ClusterService/LocateFeature", { ...query, source, featureId, zoom }, options);
  }

  /**
   * The features in a box with the greatest values of an indexed property; after a "-" with the least. `query`: bbox, limit,
   * and the other members of `TopQuery`.
   */
  top(source, by, query = {}, options) {
    return this.call("ClusterService/TopFeatures", { bbox: WORLD, ...query, source, by }, options);
  }

  /** How the values of an indexed property are distributed in a box. `query`: bbox, and bins or edges. */
  histogram(source, property, query = {}, options) {
    return this.call("ClusterService/GetHistogram", { bbox: WORLD, ...query, source, property }, options);
  }

  /** The tiles of a zoom that touch a box and have points, with their number. `query`: bbox, filter, window. */
  grid(source, resolution, query = {}, options) {
    return this.call("ClusterService/GetGrid", { bbox: WORLD, ...query, source, resolution }, options);
  }

  /** Watches a part of a map: a `Viewport`. `query` as for `clusters`; `options`: maxRateHz, transitions, frameMs. */
  viewport(source, query, options = {}) {
    return new Viewport(this, source, query, options);
  }

  /** Makes a source. Fails with ALREADY_EXISTS if there is one of this name. */
  createSource(source, sourceOptions, options) {
    return this.call("SourceService/CreateSource", { source, options: sourceOptions }, options);
  }

  /** Makes a source, or gives the one that exists these options. Returns whether it is new. */
  async ensureSource(source, sourceOptions) {
    try {
      await this.createSource(source, sourceOptions);
      return true;
    } catch (error) {
      if (error.status !== "ALREADY_EXISTS") throw error;
      if (sourceOptions !== undefined) await this.updateOptions(source, sourceOptions);
      return false;
    }
  }

  /**
   * Imports GeoJSON features from any iterable: all or nothing. `how`: mode, onInvalid; with `sourceOptions` the source is made
   * as by `ensureSource`, and a new one is deleted again if the import fails.
   */
  async importFeatures(source, features, { sourceOptions, ...how } = {}, options) {
    const isNew = sourceOptions !== undefined && (await this.ensureSource(source, sourceOptions));
    try {
      return await this.sendAll("SourceService/ImportFeatures", { ...how, source }, batches(features), options);
    } catch (error) {
      if (isNew) await this.deleteSource(source).catch(() => {});
      throw error;
    }
  }

  /**
   * All features of a source as they were sent, of one revision: an asynchronous iterable. Over the socket in the
   * source's order, over HTTP in none.
   */
  async *features(source, query = {}, options) {
    if (this.#transport instanceof HTTPTransport) return yield* pointsOf(this, source, query, options);
    for await (const page of await this.stream("SourceService/GetFeatures", { ...query, source }, options)) {
      yield* page.features;
    }
  }

  /** Lets the daemon read a file below one of its import directories. */
  loadFile(source, path, how = {}, options) {
    return this.call("SourceService/LoadFile", { ...how, source, path }, options);
  }

  /** Puts in or replaces features by id, and removes others. `changes`: upsert, remove. */
  updateFeatures(source, changes, options) {
    return this.call("SourceService/UpdateFeatures", { ...changes, source }, options);
  }

  /**
   * Applies a log's changes exactly once: an asynchronous iterable of the daemon's answers. `changes(position)` gives the items
   * after a position, from the beginning if it is null: an iterable of `{ position, upsert, remove }`. If the daemon cannot be
   * reached, this connects again after 0.1 to 30 seconds and calls it with the position that the source has. Over a socket only.
   */
  async *applyChanges(source, log, changes, { onInvalid = "reject", ...options } = {}) {
    for (let pause = 100; ; pause = Math.min(30_000, 2 * pause)) {
      let stream;
      let own;
      try {
        stream = await this.stream("SourceService/ApplyChanges", { source, log, onInvalid }, options);
        const { value: first } = await stream.next();
        pause = 50;
        const sending = (async () => {
          for await (const item of changes(first.position)) await stream.send(item);
          stream.end();
        })().catch((error) => {
          own = error;
          stream.close();
        });
        yield* stream;
        if (own !== undefined) throw own;
        await sending;
        return;
      } catch (error) {
        if (own !== undefined || error.status !== "UNAVAILABLE") throw own ?? error;
        await new Promise((resolve) => setTimeout(resolve, pause));
      } finally {
        stream?.close();
      }
    }
  }

  /** Gives a source other options: the complete set. */
  updateOptions(source, sourceOptions, options) {
    return this.call("SourceService/UpdateOptions", { source, options: sourceOptions }, options);
  }

  deleteSource(source, options) {
    return this.call("SourceService/DeleteSource", { source }, options);
  }

  getSource(source, options) {
    return this.call("SourceService/GetSource", { source }, options);
  }

  async listSources(options) {
    return (await this.call("SourceService/ListSources", {}, options)).sources;
  }

  /** The value of an expression. `context`: feature, zoom, accumulated, type. */
  async evaluate(expression, context = {}, options) {
    return (await this.call("SourceService/EvaluateExpression", { ...context, expression }, options)).value;
  }

  /** Whether the daemon serves. */
  async check(options) {
    return (await this.call("ServerService/Check", {}, options)).status === "SERVING";
  }
}

/** Beyond the last zoom of clusters, which is at most 24: a map of it shows each point by itself. */
const POINTS_ZOOM = 25;

/** A source's features by the answers of maps of them, which are divided until each is small enough to be sent. */
async function* pointsOf(client, source, { atLeast, precision, ...query }, options) {
  if (atLeast !== undefined) await client.clusters(source, { atLeast, limit: 1 }, options);
  const { bbox, revision } = await client.getSource(source, options);
  const boxes = bbox ? [bbox] : [];
  const [, , lastX, lastY] = bbox ?? [];
  while (boxes.length > 0) {
    const [west, south, east, north] = boxes.pop();
    // Positions are found by rounded ones, so a little beside the box is looked at too.
    const margin = 1e-6 * Math.max(...bbox.map(Math.abs), 1) + 0.01 * Math.min(east - west, north - south);
    const around = [west - margin, south - margin, east + margin, north + margin];
    let answer;
    try {
      answer = await client.clusters(source, { revision, ...query, bbox: around, zoom: POINTS_ZOOM }, options);
    } catch (error) {
      if (error.status !== "RESOURCE_EXHAUSTED" || !(east - west > 4 * margin || north - south > 4 * margin)) throw error;
      const isWide = east - west >= north - south;
      const [x, y] = [(west + east) / 2, (south + north) / 2];
      boxes.push(isWide ? [x, south, east, north] : [west, y, east, north]);
      boxes.push(isWide ? [west, south, x, north] : [west, south, east, y]);
      continue;
    }
    for (const feature of answer.features) {
      const [x, y] = feature.geometry.coordinates;
      // A point on the edge between two boxes belongs to the second.
      const isInside = x >= west && y >= south && (x < east || east === lastX) && (y < north || north === lastY);
      if (!isInside) continue;
      // Rounded only now: the edges between the boxes are exact.
      if (precision !== undefined) {
        feature.geometry.coordinates = feature.geometry.coordinates.map((value) => Number(value.toFixed(precision)));
      }
      yield feature;
    }
  }
}

/** The whole world. */
export const WORLD = Object.freeze([-180, -90, 180, 90]);

const ITEM_FEATURES = 2000;

async function* batches(features) {
  let held = [];
  for await (const feature of features) {
    held.push(feature);
    if (held.length === ITEM_FEATURES) {
      yield { features: held };
      held = [];
    }
  }
  if (held.length > 0) yield { features: held };
}

// MARK: Viewports

/** The difference between what is to be shown and what the app has. No socket, no clock. */
export class MarkerQueue {
  /** What is to be shown, and what the app has, by key. */
  shown = new Map();
  given = new Map();
  center = [0, 0];
  revision = 0;
  #waiting = new Map();
  #order = [];

  get size() {
    return this.#waiting.size;
  }

  /** Takes in an item of WatchClusters; throws INTERNAL for one that does not fit those before. */
  apply(item) {
    const { add, remove, update = [], keep, revision } = item ?? {};
    if (!Array.isArray(add) || !Array.isArray(remove) || !Number.isInteger(keep) || !Number.isInteger(revision)) {
      throw violation("an item that is not a change of a viewport");
    }
    const origins = new Map(add.map((feature) => [feature.from, this.shown.get(feature.from)]));
    const gone = remove.map((value) => (typeof value === "string" ? { key: value } : value));
    for (const { key } of gone) {
      if (!this.shown.delete(key)) throw violation("a marker is removed that is not there");
    }
    for (const feature of add) this.#show(feature, origins.get(feature.from));
    for (const feature of update) this.#show(feature, undefined);
    for (const { key, into } of gone) {
      const target = this.shown.get(into);
      this.#waiting.set(key, { key, into: target && into, end: target && positionOf(target) });
    }
    const kept = keep + add.length;
    if (this.shown.size !== kept && this.shown.size !== kept + update.length) {
      throw violation(`${this.shown.size} markers are shown, not ${kept}`);
    }
    this.revision = revision;
    this.#order = [];
  }

  #show({ key, from, ...feature }, origin) {
    const position = feature.geometry?.coordinates;
    if (typeof key !== "string" || !Number.isFinite(position?.[0]) || !Number.isFinite(position?.[1])) {
      throw violation("a marker that is no point with a key");
    }
    const waiting = this.#waiting.has(key) ? this.shown.get(key) : undefined;
    const marker = { key, feature, from: origin && from, start: origin && positionOf(origin) };
    if (!origin && waiting) Object.assign(marker, { from: waiting.from, start: waiting.start });
    this.shown.set(key, marker);
    this.#waiting.set(key, { key });
  }

  /** The next part of the difference: at most so many markers, nearest to the centre first. */
  take(most) {
    const change = { removed: [], added: [], updated: [], isComplete: false, revision: this.revision };
    if (this.#order.length === 0) {
      const distances = [...this.#waiting.keys()].map((key) => [this.#distance(key), key]);
      this.#order = distances.sort((a, b) => b[0] - a[0]).map(([, key]) => key);
    }
    for (let count = 0; count < most && this.#order.length > 0; ) count += this.#step(this.#order.pop(), change);
    change.isComplete = this.#waiting.size === 0;
    return change;
  }

  #step(key, change) {
    const removed = this.#waiting.get(key);
    const [old, marker] = [this.given.get(key), this.shown.get(key)];
    this.#waiting.delete(key);
    if (marker) this.given.set(key, marker);
    else this.given.delete(key);
    if (!marker && old) change.removed.push(removed);
    else if (marker && !old) change.added.push(marker);
    else if (marker && JSON.stringify(old.feature) !== JSON.stringify(marker.feature)) change.updated.push(marker);
    else return 0;
    return 1;
  }

  #distance(key) {
    const marker = this.shown.get(key) ?? this.given.get(key);
    if (!marker) return 0;
    const [longitude, latitude] = positionOf(marker);
    const across = nearest(longitude, this.center[0]) - this.center[0];
    return (across * Math.cos((latitude * Math.PI) / 180)) ** 2 + (latitude - this.center[1]) ** 2;
  }
}

const positionOf = (marker) => marker.feature.geometry.coordinates.slice(0, 2);

/** The same longitude in the turn of the globe that is nearest to another. */
const nearest = (longitude, to) => longitude + 360 * Math.round((to - longitude) / 360);

/** How many markers the app takes on within half a frame, learnt through a low-pass filter. */
export class Pace {
  #cost = 0.2; // milliseconds a marker, until the app has shown what it takes

  constructor(frameMs) {
    this.frameMs = frameMs;
  }

  get batch() {
    return this.#cost > 0 ? Math.max(1, Math.min(1000, Math.floor(this.frameMs / 2 / this.#cost))) : 1000;
  }

  /** The app has taken on so many markers. A pause of more than a second counts as one second. */
  took(milliseconds, markers) {
    if (markers > 0) this.#cost += 0.2 * (Math.min(Math.max(0, milliseconds), 1000) / markers - this.#cost);
  }
}

/**
 * A part of a map that is watched: iterate over it for what changes there.
 *
 *     for await (const { removed, added, updated } of client.viewport("cities", { bbox, zoom })) …
 *
 * Markers keep their keys over zooms and revisions, and say what they come from and go into. Each change has as many
 * markers as the app takes on within half a frame; what comes and goes meanwhile is left out. A daemon without
 * transitions gives keys that stay while a marker shows the same.
 */
export class Viewport {
  #client;
  #params;
  #queue = new MarkerQueue();
  #pace;
  #transitions;
  #stream;

  constructor(client, source, query, { maxRateHz, transitions = true, frameMs = 16 } = {}) {
    this.#client = client;
    this.#params = { bbox: WORLD, zoom: 0, ...query, source, ...(maxRateHz === undefined ? {} : { maxRateHz }) };
    this.#pace = new Pace(frameMs);
    this.#transitions = transitions;
    this.#queue.center = centerOf(this.#params.bbox);
    this.#open();
  }

  #open() {
    const params = this.#transitions ? { ...this.#params, transitions: true } : this.#params;
    this.#stream = this.#client.stream("ClusterService/WatchClusters", params);
    this.#stream.catch(() => {}); // the iteration reports it
  }

  /** What the app has been given, by key. */
  get markers() {
    return new Map(this.#queue.given);
  }

  /**
   * Moves the viewport; what is shown there comes as changes. `restrictions`: `window` and `pin` replace those that it has,
   * null removes them, and left out they stay.
   */
  async move(bbox, zoom, restrictions = {}) {
    const item = { bbox, zoom, ...restrictions };
    Object.assign(this.#params, item);
    for (const name of Object.keys(restrictions)) if (restrictions[name] === null) delete this.#params[name];
    this.#queue.center = centerOf(bbox);
    await (await this.#stream).send(item);
  }

  /** Ends the watching; the iteration ends after what waits. */
  async end() {
    (await this.#stream).end();
  }

  /** Ends the watching at once. */
  async close() {
    (await this.#stream.catch(() => null))?.close();
  }

  async *[Symbol.asyncIterator]() {
    let ended = false;
    try {
      while (true) {
        while (!ended && (this.#queue.size === 0 || (await this.#stream).waiting > 0)) {
          const received = await this.#receive();
          ended = received === "end";
          if (received === "change" && (await this.#stream).waiting === 0) break;
        }
        const change = this.#queue.take(this.#pace.batch);
        const count = change.removed.length + change.added.length + change.updated.length;
        if (ended && count === 0) return;
        const start = performance.now();
        yield change;
        const taken = performance.now() - start;
        this.#pace.took(taken, count);
        const rest = this.#pace.frameMs - taken;
        if (this.#queue.size > 0 && rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
      }
    } finally {
      await this.close();
    }
  }

  /** Takes in the next item: "change", "end", or "again" for a daemon that is asked again. */
  async #receive() {
    const stream = await this.#stream;
    try {
      const { done, value } = await stream.next();
      if (done) return "end";
      this.#queue.apply(value);
      return "change";
    } catch (error) {
      const isUnknown = error.details?.param === "params.transitions" || /\btransitions\b/.test(error.message);
      if (!this.#transitions || error.status !== "INVALID_ARGUMENT" || !isUnknown) throw error;
      this.#transitions = false;
      this.#open();
      return "again";
    }
  }
}

function centerOf([west, south, east, north]) {
  return [(west + (east < west ? east + 360 : east)) / 2, (south + north) / 2];
}

// MARK: Layers

/** Slides things from position to position, each by its key. Calls `place(key, position, share)` in every frame. */
class Slides {
  #slides = new Map();
  #frame = null;

  constructor(place, milliseconds) {
    this.place = place;
    this.milliseconds = milliseconds;
  }

  /** Starts a slide; `done` is called at its end. One under way goes on from where it is. */
  start(key, from, to, done = () => {}) {
    const current = this.#slides.get(key)?.at ?? from;
    this.#slides.set(key, { from: current, to, at: current, start: performance.now(), done });
    this.#frame ??= requestAnimationFrame(() => this.#step());
  }

  stop(key) {
    this.#slides.delete(key);
  }

  clear() {
    this.#slides.clear();
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    this.#frame = null;
  }

  #step() {
    const now = performance.now();
    for (const [key, slide] of this.#slides) {
      const share = Math.min(1, (now - slide.start) / this.milliseconds);
      const eased = 1 - (1 - share) ** 3;
      slide.at = slide.from.map((value, axis) => value + (slide.to[axis] - value) * eased);
      this.place(key, slide.at, share);
      if (share === 1 && this.#slides.get(key) === slide) {
        this.#slides.delete(key);
        slide.done();
      }
    }
    this.onFrame?.();
    this.#frame = this.#slides.size > 0 ? requestAnimationFrame(() => this.#step()) : null;
  }
}

const isCluster = (feature) => feature.properties?.cluster === true;
const countOf = (feature) => (isCluster(feature) ? feature.properties.point_count : 1);
const radiusOf = (feature) => (isCluster(feature) ? 12 + 6 * Math.log10(countOf(feature)) : 6);
const labelOf = (feature) => (isCluster(feature) ? String(feature.properties.point_count_abbreviated) : "");

/** What both layers do: a viewport that follows the map, and slides between its changes. */
class MapLayer {
  viewport = null;
  /** What is added to the map's zoom to get the daemon's, which counts tiles of 512 pixels. */
  zoomOffset = 0;

  constructor(client, source, { query = {}, milliseconds = 250, onError = (error) => console.error(error), ...options }) {
    Object.assign(this, { client, source, query, onError, options });
    this.slides = new Slides((key, position, share) => this.place(key, position, share), milliseconds);
  }

  /** Watches what the map shows until `stop`. */
  async watch() {
    const viewport = this.client.viewport(this.source, { ...this.query, ...this.view() }, this.options);
    this.viewport = viewport;
    try {
      for await (const change of viewport) {
        if (this.viewport !== viewport) return;
        this.take(change);
      }
    } catch (error) {
      if (this.viewport === viewport) this.onError(error);
    }
  }

  take({ removed, added, updated }) {
    for (const { key, end } of removed) this.slideOut(key, end);
    for (const marker of added) this.slideIn(marker);
    for (const marker of updated) {
      this.change(marker);
      this.slides.start(marker.key, this.positionOf(marker.key), this.near(positionOf(marker)));
    }
  }

  slideIn(marker) {
    const [to, start] = [this.near(positionOf(marker)), marker.start && this.near(marker.start)];
    this.slides.stop(marker.key);
    this.show(marker, start ?? to);
    if (start) this.slides.start(marker.key, start, to);
  }

  slideOut(key, end) {
    if (!end) {
      this.slides.stop(key);
      return this.hide(key);
    }
    this.slides.start(key, this.positionOf(key), this.near(end), () => this.hide(key));
  }

  /** The box and the zoom of the map, within what the daemon takes. Its zoom is a whole number. */
  view() {
    const bounds = this.map.getBounds();
    const [south, north] = [Math.max(-90, bounds.getSouth()), Math.min(90, bounds.getNorth())];
    const zoom = Math.max(0, Math.floor(this.map.getZoom() + this.zoomOffset));
    return { bbox: [bounds.getWest(), south, bounds.getEast(), north], zoom };
  }

  /** How the clusters in view were found, as calls that take a cluster's id want to know it. */
  idQuery() {
    const { filter } = this.query;
    return filter === undefined ? {} : { filter, zoom: this.view().zoom };
  }

  /** The position in the turn of the globe that the map shows. */
  near([longitude, latitude]) {
    return [nearest(longitude, this.map.getCenter().lng), latitude];
  }

  move() {
    const { bbox, zoom } = this.view();
    this.viewport?.move(bbox, zoom).catch(this.onError);
  }

  /** Shows another window, or pins other features; null removes what there is, and what is left out stays. */
  restrict(restrictions) {
    this.query = { ...this.query };
    for (const [name, value] of Object.entries(restrictions)) {
      if (value === null) delete this.query[name];
      else this.query[name] = value;
    }
    const { bbox, zoom } = this.view();
    this.viewport?.move(bbox, zoom, restrictions).catch(this.onError);
  }

  stop() {
    const viewport = this.viewport;
    this.viewport = null;
    this.slides.clear();
    viewport?.close();
  }
}

/**
 * A layer for Leaflet. `L` is Leaflet. `options`: query (filter, properties, …), milliseconds (250), icon(feature, L),
 * onError, onClick(feature, marker), zoomOffset. A click on a cluster zooms to where it separates, unless `onClick` is given
 * and returns other than true.
 *
 * Leaflet counts zoom in tiles of 256 pixels and the daemon in tiles of 512, so the daemon is asked for one zoom less
 * (`zoomOffset: -1`). For a source whose `extent` is 256, or a map with another scale, set another offset.
 */
export function leafletLayer(L, client, source, options = {}) {
  const inner = new LeafletMarkers(L, client, source, options);
  const Layer = L.Layer.extend({
    onAdd(map) {
      inner.add(map);
      return this;
    },
    onRemove() {
      inner.remove();
      return this;
    },
  });
  return Object.assign(new Layer(), { markers: inner.markers, restrict: (restrictions) => inner.restrict(restrictions) });
}

class LeafletMarkers extends MapLayer {
  markers = new Map();

  constructor(L, client, source, { zoomOffset = -1, ...options }) {
    super(client, source, options);
    this.L = L;
    this.zoomOffset = zoomOffset;
    this.moved = () => this.move();
  }

  add(map) {
    this.map = map;
    map.on("moveend", this.moved);
    this.watch();
  }

  remove() {
    this.map.off("moveend", this.moved);
    this.stop();
    for (const key of [...this.markers.keys()]) this.hide(key);
  }

  icon(feature) {
    if (this.options.icon) return this.options.icon(feature, this.L);
    const size = 2 * radiusOf(feature);
    const className = isCluster(feature) ? "clusterd-cluster" : "clusterd-point";
    const text = document.createElement("span");
    text.textContent = labelOf(feature);
    return this.L.divIcon({ className, html: text, iconSize: [size, size] });
  }

  show(marker, [longitude, latitude]) {
    this.hide(marker.key);
    const title = String(marker.feature.properties?.name ?? labelOf(marker.feature));
    const shown = this.L.marker([latitude, longitude], { icon: this.icon(marker.feature), title, alt: title });
    shown.feature = marker.feature;
    shown.on("click", () => this.click(shown));
    this.markers.set(marker.key, shown.addTo(this.map));
  }

  async click(marker) {
    const { feature } = marker;
    if (this.options.onClick && this.options.onClick(feature, marker) !== true) return;
    if (!isCluster(feature)) return;
    try {
      const zoom = await this.client.expansionZoom(this.source, feature.properties.cluster_id, this.idQuery());
      this.map.flyTo(marker.getLatLng(), zoom - this.zoomOffset);
    } catch (error) {
      this.onError(error);
    }
  }

  change(marker) {
    const shown = this.markers.get(marker.key);
    shown.feature = marker.feature;
    shown.setIcon(this.icon(marker.feature));
  }

  hide(key) {
    this.markers.get(key)?.remove();
    this.markers.delete(key);
  }

  positionOf(key) {
    const { lng, lat } = this.markers.get(key).getLatLng();
    return [lng, lat];
  }

  place(key, [longitude, latitude]) {
    this.markers.get(key)?.setLatLng([latitude, longitude]);
  }
}

/**
 * A layer for MapLibre GL: `mapLibreLayer(client, "cities").addTo(map)`, at any time: it waits for the map's style. It
 * adds a GeoJSON source and the layers ID-circles and ID-counts; features keep their key as id. `options`: id, query,
 * milliseconds (250), circles and counts (members of these layers; counts: false for none), onError,
 * onClick(feature, event). A click on a cluster zooms to where it separates, unless `onClick` is given and returns other
 * than true. In a style
 * without glyphs the counts are pictures.
 */
export function mapLibreLayer(client, source, options = {}) {
  return new MapLibreLayer(client, source, options);
}

class MapLibreLayer extends MapLayer {
  markers = new Map();

  constructor(client, source, { id = `clusterd-${source}`, ...options }) {
    super(client, source, options);
    this.id = id;
    this.moved = () => this.move();
    this.imageMissing = ({ id }) => this.drawCount(id);
    this.styleLoaded = () => this.beginWithStyle();
    this.clicked = (event) => this.click(event);
    this.entered = () => (this.map.getCanvas().style.cursor = "pointer");
    this.left = () => (this.map.getCanvas().style.cursor = "");
    this.slides.onFrame = () => this.draw();
  }

  addTo(map) {
    this.map = map;
    map.on("styledata", this.styleLoaded);
    this.beginWithStyle();
    return this;
  }

  /** A style that is still loading takes no layers; until then the map has none. */
  beginWithStyle() {
    if (!this.map.getStyle()) return;
    this.map.off("styledata", this.styleLoaded);
    this.begin();
  }

  begin() {
    const { id, map, options } = this;
    const data = { type: "FeatureCollection", features: [] };
    map.addSource(id, { type: "geojson", data, promoteId: "key" });
    map.addLayer({
      id: `${id}-circles`, type: "circle", source: id,
      paint: { "circle-radius": ["get", "radius"], "circle-color": "#4a90d9", "circle-opacity": 0.75 },
      ...options.circles,
    });
    if (options.counts !== false) {
      const layout = map.getStyle().glyphs
        ? { "text-field": ["get", "label"], "text-size": 12, "text-allow-overlap": true }
        : { "icon-image": ["concat", `${id}:`, ["get", "label"]], "icon-allow-overlap": true };
      const filter = ["!=", ["get", "label"], ""];
      map.addLayer({ id: `${id}-counts`, type: "symbol", source: id, filter, layout, ...options.counts });
    }
    map.on("styleimagemissing", this.imageMissing);
    map.on("moveend", this.moved);
    map.on("click", `${id}-circles`, this.clicked);
    map.on("mouseenter", `${id}-circles`, this.entered);
    map.on("mouseleave", `${id}-circles`, this.left);
    this.watch();
  }

  remove() {
    const { id, map } = this;
    map.off("styledata", this.styleLoaded);
    map.off("moveend", this.moved);
    map.off("styleimagemissing", this.imageMissing);
    map.off("click", `${id}-circles`, this.clicked);
    map.off("mouseenter", `${id}-circles`, this.entered);
    map.off("mouseleave", `${id}-circles`, this.left);
    this.stop();
    this.markers.clear();
    for (const layer of [`${id}-counts`, `${id}-circles`]) if (map.getLayer(layer)) map.removeLayer(layer);
    if (map.getSource(id)) map.removeSource(id);
  }

  async click(event) {
    // MapLibre's copies of features have lost what is not a text or a number.
    const feature = this.markers.get(event.features[0].properties.key)?.feature;
    if (!feature) return;
    const { key, radius, label, ...properties } = feature.properties;
    const own = { ...feature, properties };
    if (this.options.onClick && this.options.onClick(own, event) !== true) return;
    if (!isCluster(feature)) return;
    try {
      const zoom = await this.client.expansionZoom(this.source, properties.cluster_id, this.idQuery());
      this.map.easeTo({ center: positionOf({ feature }), zoom });
    } catch (error) {
      this.onError(error);
    }
  }

  /** Makes the picture of a count when the map first needs it. */
  drawCount(image) {
    const prefix = `${this.id}:`;
    if (!image.startsWith(prefix) || this.map.hasImage(image)) return;
    const [width, height] = [96, 32];
    const context = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d");
    Object.assign(context, { font: "24px sans-serif", textAlign: "center", textBaseline: "middle" });
    context.fillText(image.slice(prefix.length), width / 2, height / 2);
    this.map.addImage(image, context.getImageData(0, 0, width, height), { pixelRatio: 2 });
  }

  take(change) {
    super.take(change);
    this.draw();
  }

  draw() {
    if (!this.viewport) return;
    const features = [...this.markers.values()].map(({ feature, at }) => ({
      ...feature, geometry: { type: "Point", coordinates: at },
    }));
    this.map.getSource(this.id)?.setData({ type: "FeatureCollection", features });
  }

  show({ key, feature }, at) {
    this.markers.set(key, { feature: drawn(key, feature), at });
  }

  change({ key, feature }) {
    this.markers.get(key).feature = drawn(key, feature);
  }

  hide(key) {
    this.markers.delete(key);
  }

  positionOf(key) {
    return this.markers.get(key).at;
  }

  place(key, position) {
    const marker = this.markers.get(key);
    if (marker) marker.at = position;
  }
}

/** A feature with what its layers draw. */
function drawn(key, feature) {
  const properties = { ...feature.properties, key, radius: radiusOf(feature), label: labelOf(feature) };
  return { ...feature, properties };
}

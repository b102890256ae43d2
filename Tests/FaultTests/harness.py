# SPDX-License-Identifier: MIT
"""The daemon with faults: starts it under the shim, talks to it, and compares what it serves with what it has
acknowledged."""
import ctypes, errno, json, mmap, os, random, resource, shutil, signal, socket, struct, subprocess, tempfile, time

here = os.path.dirname(os.path.abspath(__file__))

WORLD = [-180, -90, 180, 90]
OPERATIONS = ("open create read write sync sync_directory truncate rename unlink rmdir mkdir list link map entry allocate").split()
NOBODY = 65534
# How long a call may take on a busy machine. What would wait for a fault to end waits longer.
PATIENCE = 40


class Fault(Exception):
    """A check that did not hold."""


def check(holds, text):
    if not holds:
        raise Fault(text)


class CallError(Exception):
    """A call's error."""

    def __init__(self, error):
        super().__init__(f"{error['status']}: {error['message']}")
        self.status, self.message = error["status"], error["message"]


class Client:
    """One connection and one call at a time, in frames as they are; calls give up after a while."""

    def __init__(self, path, patience=PATIENCE):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(patience)
        self.socket.connect(path)
        self.reader, self.last, self.notices = self.socket.makefile("rb"), 0, []

    def send(self, message):
        text = json.dumps(message).encode()
        self.socket.sendall(struct.pack(">BI", 0, len(text)) + text)

    def receive(self):
        """The next message of a call."""
        while True:
            head = self.reader.read(5)
            if len(head) < 5:
                raise EOFError("the daemon has closed")
            size = struct.unpack(">BI", head)[1]
            text = self.reader.read(size)
            if len(text) < size:
                raise EOFError("the daemon has closed within a message")
            message = json.loads(text)
            if "goaway" in message:
                self.notices.append(message)
                continue
            if "error" in message:
                raise CallError(message["error"])
            return message

    def open(self, method, timeout=None, **params):
        self.last += 1
        message = {"id": self.last, "method": f"clusterd.v1.{method}", "params": params}
        self.send({**message, "timeoutMs": timeout} if timeout else message)

    def call(self, method, timeout=None, items=None, **params):
        self.open(method, timeout, **params)
        for item in items or []:
            self.send({"id": self.last, "item": item})
        if items is not None:
            self.send({"id": self.last, "end": True})
        return self.receive()["result"]

    def drain(self):
        """Reads what has come before the daemon closed."""
        try:
            while True:
                self.receive()
        except (EOFError, OSError, CallError, struct.error):
            pass

    def query(self, source, zoom=24, **params):
        return self.call("ClusterService/GetClusters", source=source, bbox=WORLD, zoom=zoom, **params)["features"]

    def put(self, source, features, mode="replace"):
        items = [{"features": features[i:i + 500]} for i in range(0, len(features), 500)]
        return self.call("SourceService/ImportFeatures", items=items, source=source, mode=mode)

    def update(self, source, features):
        return self.call("SourceService/UpdateFeatures", source=source, upsert=features)

    def close(self):
        self.reader.close()
        self.socket.close()


def feature(number, **properties):
    x, y = (number * 7919 % 35900) / 100 - 179.5, (number * 104729 % 16900) / 100 - 84.5
    return {"type": "Feature", "id": number, "properties": {"n": number, **properties},
            "geometry": {"type": "Point", "coordinates": [x, y]}}


class Control(ctypes.Structure):
    """What the shim does, as in shim.c."""
    _fields_ = [("operations", ctypes.c_uint32), ("before", ctypes.c_int32), ("count", ctypes.c_int32),
                ("error", ctypes.c_int32), ("wait", ctypes.c_uint32), ("seen", ctypes.c_uint32),
                ("failed", ctypes.c_uint32), ("path", ctypes.c_char * 240)]

    def arm(self, operations, before=0, count=1, error=errno.EIO, path="", wait=0):
        self.operations = 0
        self.before, self.count, self.error, self.wait, self.path = before, count, error, wait, path.encode()
        self.seen = self.failed = 0
        self.operations = sum(1 << OPERATIONS.index(name) for name in operations)

    def disarm(self):
        self.operations = 0


def end_with_parent():
    """Lets this process be killed when the one that made it ends."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Place:
    """A folder for one test, and the programs that it runs."""
    program = shim = root = None

    @classmethod
    def prepare(cls, program):
        cls.program = program
        cls.root = tempfile.mkdtemp(prefix="clusterd-faults-")
        os.chmod(cls.root, 0o755)
        cls.shim = cls.build(cls.root)

    @staticmethod
    def build(folder):
        """Compiles the library; its path."""
        path = folder + "/shim.so"
        subprocess.check_call(["cc", "-shared", "-fPIC", "-O2", "-o", path, here + "/shim.c", "-ldl", "-lpthread"])
        return path

    @classmethod
    def remove(cls):
        shutil.rmtree(cls.root, ignore_errors=True)


class Shim:
    """The library, and what it does to a daemon that is started with `environment`."""

    def __init__(self, folder, directory, record=None):
        library = Place.shim or Place.build(folder)
        path = folder + "/control"
        with open(path, "wb") as file:
            file.write(bytes(ctypes.sizeof(Control)))
        with open(path, "r+b") as file:
            self.control = Control.from_buffer(mmap.mmap(file.fileno(), ctypes.sizeof(Control)))
        self.environment = {"LD_PRELOAD": library, "FAULT_DIRECTORY": directory or "/nowhere", "FAULT_CONTROL": path}
        if record:
            self.environment["FAULT_RECORD"] = record


class Daemon:
    def __init__(self, state=True, config=None, record=False):
        self.folder = tempfile.mkdtemp(dir=Place.root)
        os.chmod(self.folder, 0o755)
        self.path, self.state = self.folder + "/s", self.folder + "/state" if state else None
        self.config = {"socketMode": "0666", **(config or {})}
        self.record = self.folder + "/record" if record else None
        self.shim = Shim(self.folder, self.state, self.record)
        self.control = self.shim.control
        self.process, self.environment, self.errors = None, {}, self.folder + "/errors"
        # Bytes; None: no limit.
        self.address_space = None
        self.has_one_processor = False

    def start(self, must=True, stderr=None, arguments=()):
        """Starts it and waits until it answers; False if it ended instead."""
        self.launch(stderr, arguments)
        return self.wait_until_it_answers(must)

    def launch(self, stderr=None, arguments=()):
        """Starts it, and does not wait."""
        self.write_config()
        environment = {**os.environ, **self.shim.environment, **self.environment}
        environment.pop("CLUSTERD_SOCKET", None)
        command = [Place.program, "--socket", self.path, "--config", self.folder + "/config", *arguments]
        command += ["--state-dir", self.state] if self.state else []
        log = stderr or open(self.errors, "ab")
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log,
            preexec_fn=self.prepare)
        if not stderr:
            log.close()

    def wait_until_it_answers(self, must=True):
        """False if it ended instead."""
        end = time.monotonic() + 3 * PATIENCE
        while self.process.poll() is None:
            if time.monotonic() > end:
                raise Fault(f"it does not answer: {self.said()[-400:]}")
            try:
                client = Client(self.path)
                client.call("ServerService/Check")
                client.close()
                return True
            except (OSError, EOFError, ValueError):
                time.sleep(0.002)
        check(not must, f"it did not start: {self.said()[-400:]}")
        return False

    def write_config(self):
        with open(self.folder + "/config", "w") as file:
            json.dump(self.config, file)

    def prepare(self):
        end_with_parent()
        if self.has_one_processor:
            os.sched_setaffinity(0, {random.choice(list(os.sched_getaffinity(0)))})
        if self.address_space:
            resource.setrlimit(resource.RLIMIT_AS, (self.address_space, self.address_space))

    def said(self):
        """What it has written to its standard error, unless that goes elsewhere."""
        if not os.path.exists(self.errors):
            return ""
        with open(self.errors, errors="replace") as file:
            return file.read()

    def client(self, patience=PATIENCE):
        return Client(self.path, patience)

    def is_alive(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()

    def end(self):
        """Ends it in order; its exit status."""
        self.process.terminate()
        return self.process.wait(PATIENCE)

    def restart(self):
        self.kill()
        self.control.disarm()
        self.start()

    def processor_seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self, member="VmRSS"):
        """Of its memory, in MiB."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) >> 10 for line in file if line.startswith(member))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def served(client):
    """What each source has: the features' ids and numbers and the radius; else its state. And what is reported."""
    try:
        return listed(client)
    except CallError as error:
        # Text is checked as it is read: a source can turn out to be damaged after it was listed.
        if error.status not in ("DATA_LOSS", "UNAVAILABLE"):
            raise
        return served(client)


def listed(client):
    found, notes = {}, {}
    for source in client.call("SourceService/ListSources")["sources"]:
        name = source["source"]
        if source.get("damage"):
            notes[name] = source["damage"]
        if source["state"] in ("damaged", "unavailable"):
            found[name] = source["state"]
            continue
        features = client.query(name)
        for served_feature in features:
            check_content(served_feature)
        found[name] = (frozenset((f["id"], f["properties"]["n"]) for f in features), source["options"]["radius"])
    again = {s["source"]: s.get("damage") for s in client.call("SourceService/ListSources")["sources"]}
    # What is found meanwhile in the background changes what was listed.
    return (found, notes) if {k: v for k, v in again.items() if v} == notes else listed(client)


def check_content(served_feature):
    """A feature is all as it was sent: a byte that changed in its text does not change its id."""
    number, properties = served_feature["properties"]["n"], dict(served_feature["properties"])
    text = properties.pop("text", "")
    sent = feature(number)
    check(properties == sent["properties"] and not text.strip("x"), f"a feature has {served_feature['properties']}")
    check(served_feature["geometry"] == sent["geometry"], f"feature {number} is at {served_feature['geometry']}")


def difference(found, expected):
    """What of the sources is not as expected; empty if all is."""
    parts = []
    for name in sorted(set(found) | set(expected)):
        a, b = found.get(name), expected.get(name)
        if a == b:
            continue
        if isinstance(a, tuple) and isinstance(b, tuple):
            parts.append(f"{name} lacks {len(b[0] - a[0])}, has {len(a[0] - b[0])} more, radius {a[1]} for {b[1]}")
        else:
            show = lambda value: value if not isinstance(value, tuple) else f"{len(value[0])} features"
            parts.append(f"{name}: {show(a)} for {show(b)}")
    return "; ".join(parts)


class Work:
    """Calls that change sources, and what each must leave behind."""

    def __init__(self, client):
        self.client, self.model, self.failed, self.history, self.last_succeeded = client, {}, 0, [{}], True

    def step(self, change, call):
        """Makes a call; if it succeeds the model follows, else nothing may have changed."""
        self.last_succeeded = False
        try:
            call()
        except CallError:
            self.failed += 1
            return
        self.last_succeeded = True
        change(self.model)
        self.history.append(dict(self.model))

    def create(self, name):
        self.step(lambda m: m.__setitem__(name, (frozenset(), 40)),
                  lambda: self.client.call("SourceService/CreateSource", source=name))

    def delete(self, name):
        self.step(lambda m: m.pop(name, None), lambda: self.client.call("SourceService/DeleteSource", source=name))

    def put(self, name, numbers, mode="replace"):
        new = frozenset((n, n) for n in numbers)

        def change(model):
            old, radius = model[name]
            model[name] = (new | old if mode == "append" else new, radius)
        self.step(change, lambda: self.client.put(name, [feature(n, text="x" * 60) for n in numbers], mode))

    def update(self, name, numbers, remove=()):
        def change(model):
            old, radius = model[name]
            model[name] = (frozenset(p for p in old if p[0] not in remove) | {(n, n) for n in numbers}, radius)
        self.step(change, lambda: self.client.call(
            "SourceService/UpdateFeatures", source=name, upsert=[feature(n) for n in numbers], remove=list(remove)))

    def options(self, name, radius):
        self.step(lambda m: m.__setitem__(name, (m[name][0], radius)),
                  lambda: self.client.call("SourceService/UpdateOptions", source=name, options={"radius": radius}))

    def all(self):
        self.create("a")
        self.put("a", range(12))
        self.update("a", [100, 101], remove=[3])
        self.create("b")
        self.put("a", range(20, 30))
        self.update("a", [200])
        self.options("a", 60)
        self.put("b", range(5), "append")
        self.put("a", range(300, 304), "append")
        self.create("c")
        self.delete("c")
        self.delete("b")
        self.update("a", [201], remove=[200])


def as_nobody(body):
    """Runs body() as another user, in a process that goes on until `end` is called; `line` is what it said next."""
    check(os.getuid() == 0, "it needs root, to play another user")
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            body(lambda *words: os.write(writer, (json.dumps(words) + "\n").encode()))
        except BaseException as error:
            os.write(writer, (json.dumps(["failed", repr(error)]) + "\n").encode())
        os._exit(0)
    os.close(writer)
    return Other(pid, os.fdopen(reader, "rb"))


class Other:
    def __init__(self, pid, said):
        self.pid, self.said = pid, said

    def line(self):
        """What it said next; a fault if it could not do what it was to do."""
        text = self.said.readline()
        words = json.loads(text) if text else ["failed", "it ended"]
        check(words[0] != "failed", f"the other user: {words[1:]}")
        return words

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.said.close()

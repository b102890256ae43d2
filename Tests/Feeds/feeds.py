#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Feeds from real brokers into a real daemon, with kills of all three; what the source has is compared with a model.

    Tests/Feeds/feeds.py PROGRAMS stdin|nats|flood|mqtt|kafka [SEED]
    Tests/Feeds/feeds.py PROGRAMS soak SEED SECONDS

flood publishes as fast as it can while NATS stalls and is killed; the model is what is in the stream afterwards.
soak publishes for a time while NATS, feed and daemon are killed in turn (scripts/soak-feeds).
"""
import base64, ctypes, json, os, random, shutil, signal, socket, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "clients/python/src"))
import clusterd  # noqa: E402

PROGRAMS, KIND = os.path.abspath(sys.argv[1]), sys.argv[2]
RANDOM = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
FOLDER = tempfile.mkdtemp(prefix="feeds-", dir="/tmp")
SOCKET = FOLDER + "/d.sock"
PATIENCE = 120
started = []


def start(*words, **how):
    process = subprocess.Popen(words, stderr=open(f"{FOLDER}/log", "ab"), stdout=subprocess.DEVNULL, **how)
    started.append(process)
    return process


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait()


def until(condition, what):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            if condition():
                return
        except (OSError, clusterd.ClusterdError):
            pass
        time.sleep(0.02)
    raise SystemExit(f"{KIND}: {what} did not happen; the log:\n{open(FOLDER + '/log').read()[-4000:]}")


class Daemon:
    def __init__(self):
        self.start()
        with self.client() as client:
            client.create_source("fleet")

    def start(self):
        self.process = start(f"{PROGRAMS}/clusterd", "--socket", SOCKET, "--state-dir", FOLDER + "/state")
        until(lambda: self.client().check(), "the daemon's start")

    def client(self):
        return clusterd.Client(SOCKET, timeout=10)

    def restart(self):
        kill(self.process)
        self.start()

    def points(self):
        with self.client() as client:
            return {feature["id"]: feature["properties"]["n"] for feature in
                    (page for pages in client.stream("SourceService/GetFeatures", {"source": "fleet"})
                     for page in pages["features"])}

    def replication(self):
        with self.client() as client:
            return client.get_source("fleet").get("replication")


class Feed:
    def __init__(self, *words):
        self.words = words
        self.start()

    def start(self):
        self.process = start(f"{PROGRAMS}/clusterd-feed", *self.words, "--source", "fleet", "--socket", SOCKET)

    def restart(self):
        kill(self.process)
        self.start()


def message(number):
    return json.dumps({"lon": number % 360 - 180, "lat": number % 170 - 85, "n": number})


class NATS:
    """The protocol as text, and the API of JetStream in it."""

    def __init__(self):
        self.port = free_port()
        self.start()
        self.request("$JS.API.STREAM.CREATE.FLEET", {"name": "FLEET", "subjects": ["vehicles.*"], "storage": "file", "retention": "limits"})

    def start(self):
        self.process = start("nats-server", "-js", "-p", str(self.port), "-a", "127.0.0.1", "-sd", FOLDER + "/js")
        until(self.connect, "the start of NATS")

    def connect(self):
        self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        self.file = self.socket.makefile("rb")
        self.file.readline()
        self.socket.sendall(b'CONNECT {"verbose":false}\r\nSUB answers.> 1\r\nPING\r\n')
        return b"PONG" in self.file.readline()

    def request(self, subject, body):
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.socket.sendall(b"PUB %s answers.1 %d\r\n%s\r\n" % (subject.encode(), len(text), text))
        while True:
            line = self.file.readline()
            if line.startswith(b"MSG"):
                return json.loads(self.file.read(int(line.split()[-1]) + 2))
            if line.startswith(b"PING"):
                self.socket.sendall(b"PONG\r\n")
            if not line:
                raise OSError("the connection is closed")

    def publish(self, key, body):
        # Stored once it is answered. A repeat after a kill is harmless.
        while True:
            try:
                if "seq" in self.request(f"vehicles.{key}", body.encode()):
                    return
            except OSError:
                until(self.connect, "a connection to NATS")

    def restart(self):
        kill(self.process)
        self.start()

    def flood(self, numbers):
        """Publishes without waiting for answers: a kill loses some."""
        batch = bytearray()
        for number in numbers:
            body = message(number).encode()
            batch += b"PUB vehicles.%d %d\r\n%s\r\n" % (RANDOM.randrange(500), len(body), body)
        try:
            self.socket.sendall(batch)
        except OSError:
            until(self.connect, "a connection to NATS")

    def publish_all(self, messages):
        """Publishes messages in their order, and again from the first one until all are stored."""
        text = b"".join(b"PUB vehicles.%d answers.2 %d\r\n%s\r\n" % (key, len(body), body) for key, body in messages)
        while True:
            try:
                self.socket.sendall(text)
                for _ in messages:
                    while not (line := self.file.readline()).startswith(b"MSG"):
                        if line.startswith(b"PING"):
                            self.socket.sendall(b"PONG\r\n")
                        if not line:
                            raise OSError("the connection is closed")
                    if b'"seq"' not in self.file.read(int(line.split()[-1]) + 2):
                        raise OSError("a message was refused")
                return
            except OSError:
                until(self.connect, "a connection to NATS")

    def last(self, key):
        """The last message of a key in the stream."""
        found = self.request("$JS.API.STREAM.MSG.GET.FLEET", {"last_by_subj": f"vehicles.{key}"})
        return json.loads(base64.b64decode(found["message"]["data"]))["n"] if "message" in found else None

    def sequence(self):
        return self.request("$JS.API.STREAM.INFO.FLEET", {})["state"]["last_seq"]

    def check(self):
        until(lambda: self.request("$JS.API.CONSUMER.NAMES.FLEET", {})["total"] <= 1, "the end of old consumers")

    def feed(self):
        return Feed(f"nats://127.0.0.1:{self.port}/FLEET?subject=vehicles.*")


class MQTT:
    def __init__(self):
        self.port = free_port()
        with open(FOLDER + "/mosquitto.conf", "w") as file:
            file.write(f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence true\n"
                       f"persistence_location {FOLDER}/\nuser root\nmax_queued_messages 0\nautosave_interval 1\n")
        self.start()

    def start(self):
        self.process = start("mosquitto", "-c", FOLDER + "/mosquitto.conf")
        until(lambda: socket.create_connection(("127.0.0.1", self.port)).close() is None, "the start of mosquitto")

    def publish(self, key, body):
        subprocess.run(["mosquitto_pub", "-p", str(self.port), "-q", "1", "-t", f"fleet/{key}/pos/{key}",
                        *(["-m", body] if body else ["-n"])], check=True)

    # A broker that is killed loses what it had in memory only, so it is not killed.
    restart = None

    def check(self):
        pass

    def feed(self):
        feed = Feed(f"mqtt://127.0.0.1:{self.port}/fleet/+/pos/#")
        # Before its session exists, the broker keeps nothing for it.
        until(lambda: "clusterd-feed-fleet" in open(FOLDER + "/log", errors="replace").read(), "the session of the feed")
        return feed


class Kafka:
    """The mock cluster of librdkafka, in this process."""

    def __init__(self):
        self.library = library = ctypes.CDLL("librdkafka.so.1")
        for name in ("rd_kafka_conf_new", "rd_kafka_new", "rd_kafka_mock_cluster_new", "rd_kafka_topic_new"):
            getattr(library, name).restype = ctypes.c_void_p
        library.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
        text = ctypes.create_string_buffer(512)
        handle = ctypes.c_void_p(library.rd_kafka_new(0, ctypes.c_void_p(library.rd_kafka_conf_new()), text, 512))
        cluster = ctypes.c_void_p(library.rd_kafka_mock_cluster_new(handle, 1))
        self.servers = library.rd_kafka_mock_cluster_bootstraps(cluster).decode()
        library.rd_kafka_mock_topic_create(cluster, b"fleet", 3, 1)
        configuration = ctypes.c_void_p(library.rd_kafka_conf_new())
        library.rd_kafka_conf_set(configuration, b"bootstrap.servers", self.servers.encode(), text, 512)
        library.rd_kafka_conf_set(configuration, b"linger.ms", b"0", text, 512)
        self.producer = ctypes.c_void_p(library.rd_kafka_new(0, configuration, text, 512))
        self.topic = ctypes.c_void_p(library.rd_kafka_topic_new(self.producer, b"fleet", None))

    def publish(self, key, body):
        name, text = str(key).encode(), body.encode()
        # RD_KAFKA_MSG_F_COPY; all messages of a key in one partition, so that they keep their order.
        failed = self.library.rd_kafka_produce(
            self.topic, ctypes.c_int32(int(key) % 3), 2, text or None, ctypes.c_size_t(len(text)), name, ctypes.c_size_t(len(name)), None)
        assert failed == 0
        self.library.rd_kafka_flush(self.producer, 5000)

    restart = None

    def check(self):
        pass

    def feed(self):
        return Feed(f"kafka://{self.servers.split(',')[0]}/fleet")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def follow(broker, daemon):
    feed, model = broker.feed(), {}
    rounds = [feed.restart, daemon.restart] + ([broker.restart] if broker.restart else [])
    for number in range(1, 601):
        key = str(RANDOM.randrange(60))
        if RANDOM.randrange(10) == 0:
            broker.publish(key, "")
            model.pop(key, None)
        else:
            broker.publish(key, message(number))
            model[key] = number
        if RANDOM.randrange(40) == 0:
            RANDOM.choice(rounds)()
        if number % 97 == 0:
            broker.publish("7", "junk")
    until(lambda: daemon.points() == model, f"equality with the model {model}")
    until(lambda: daemon.replication()["state"] == "following", "a stream")
    broker.check()
    feed.process.terminate()
    status = feed.process.wait(20)
    assert status == 0, f"SIGTERM ends with 0, not {status}"


def flood(broker, daemon):
    feed, number = broker.feed(), 0
    for round in range(16):
        for _ in range(20):
            broker.flood(range(number, number + 500))
            number += 500
            if RANDOM.randrange(4) == 0:
                # A stall longer than the feed waits, so that answers of two requests come together.
                broker.process.send_signal(signal.SIGSTOP)
                time.sleep(0.15)
                broker.process.send_signal(signal.SIGCONT)
        if round % 2:
            broker.restart()

    def is_through():
        assert feed.process.poll() is None, f"the feed has ended with {feed.process.returncode}"
        return daemon.replication()["position"] == str(broker.sequence())

    until(is_through, "the end of the stream")
    model = {str(key): number for key in range(500) if (number := broker.last(key)) is not None}
    assert daemon.points() == model, "the source differs from the stream"
    broker.check()


def memory(process):
    with open(f"/proc/{process.pid}/status") as file:
        return next(int(line.split()[1]) // 1024 for line in file if line.startswith("VmRSS"))


def soak(broker, daemon, seconds):
    """5,000 messages a second about 100,000 vehicles, of which only the clusters are compacted, a kill every five seconds, and a comparison every minute."""
    feed, model, number = broker.feed(), {}, 0
    victims = {"broker": broker.restart, "feed": feed.restart, "daemon": daemon.restart}
    begun, kills, compared = time.monotonic(), 0, 0

    def compare(now):
        until(lambda: daemon.points() == model, "equality with the model")
        print(f"{now:.0f} s: equal after {number:,} messages and {kills} kills; "
              f"daemon {memory(daemon.process)} MiB, feed {memory(feed.process)} MiB", flush=True)

    while (now := time.monotonic() - begun) < seconds:
        batch = []
        for _ in range(500):
            number += 1
            key = RANDOM.randrange(100_000)
            model[str(key)] = number
            batch.append((key, message(number).encode()))
        broker.publish_all(batch)
        if now > 5 * (kills + 1):
            list(victims.values())[kills % 3]()
            kills += 1
        if now > 60 * (compared + 1):
            compared += 1
            compare(now)
        time.sleep(max(0, begun + number / 5000 - time.monotonic()))
    compare(seconds)
    broker.check()


def pipe(daemon):
    feed = Feed("-", "--id", '["get","id"]')
    kill(feed.process)
    reading, writing = os.pipe()
    feed = start(f"{PROGRAMS}/clusterd-feed", "-", "--id", '["get","id"]', "--source", "fleet", "--socket", SOCKET, stdin=reading)
    os.close(reading)
    model = {}
    with os.fdopen(writing, "w") as lines:
        for number in range(1, 3001):
            key = str(RANDOM.randrange(60))
            lines.write(json.dumps({**json.loads(message(number)), "id": key}) + "\n")
            model[key] = number
            if RANDOM.randrange(400) == 0:
                lines.flush()
                daemon.restart()
    assert feed.wait(PATIENCE) == 0, "the end of input ends with 0"
    assert daemon.points() == model
    assert daemon.replication()["position"] == "3000"


try:
    daemon = Daemon()
    if KIND == "stdin":
        pipe(daemon)
    elif KIND == "flood":
        flood(NATS(), daemon)
    elif KIND == "soak":
        soak(NATS(), daemon, int(sys.argv[4]))
    else:
        follow({"nats": NATS, "mqtt": MQTT, "kafka": Kafka}[KIND](), daemon)
    print(f"{KIND}: equal")
finally:
    for process in started:
        if process.poll() is None:
            kill(process)
    if "KEEP" not in os.environ:
        shutil.rmtree(FOLDER, ignore_errors=True)

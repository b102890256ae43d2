#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What feeds cost: changes of a log by ApplyChanges, beside the GEOADD of redis-server in the same run.

    python3 Benchmarks/feeds.py [--points N] [--seconds S] [--bin DIR] [--only PART...]

PART is steady10, steady100, kill or most. Each begins with a daemon that has a state directory and N features (1,000,000).

- steady10, steady100: 1,000 items a second of 10 and of 100 changes that move random features anywhere. How long after a change is due a
  watcher of Europe has it; what an honest client's views take meanwhile; the daemon's memory. Nobody waits for a late sender: time counts from
  when an item is due.
- kill: 100,000 changes a second; the daemon is killed in the middle. How soon the log is followed again, and whether the source has what
  the log says.
- most: as many as are taken, by clusterd and, with appendonly, by Redis, in commands of as many members as items have changes.

The sender reads its bytes from a file, so that it takes nothing from what is measured.
"""
import argparse, json, mmap, multiprocessing, os, random, re, shutil, socket, statistics, struct, subprocess, sys, tempfile, threading, time

import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
POSITION = re.compile(rb'"position":"(\d+)"')
EUROPE = {"source": "fleet", "bbox": [-10, 35, 30, 60], "zoom": 5, "maxRateHz": 1000}
ITEMS = 1000  # a second


def frame(text):
    return struct.pack(">BI", 0, len(text)) + text


def call(number, method, params):
    return frame(json.dumps({"id": number, "method": f"clusterd.v1.{method}", "params": params}).encode())


def connect(path, patience=30):
    end = time.monotonic() + patience
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(path)
            return connection
        except OSError:
            connection.close()
            if time.monotonic() > end:
                raise
            time.sleep(0.005)


class Frames:
    """The frames of a connection, each with the time at which it had arrived."""

    def __init__(self, connection):
        self.connection, self.rest = connection, bytearray()

    def exactly(self, count):
        while len(self.rest) < count:
            piece = self.connection.recv(1 << 16)
            if not piece:
                raise OSError("closed")
            self.rest += piece
        taken = bytes(self.rest[:count])
        del self.rest[:count]
        return taken

    def next(self):
        _, length = struct.unpack(">BI", self.exactly(5))
        return self.exactly(length), time.monotonic()


class Log:
    """Items in a file as the frames that carry them, and what they say. Positions are 1, 2, 3…"""

    def __init__(self, folder, name, items, changes, points):
        generator = numpy.random.default_rng(len(name) + items)
        self.name, self.items, self.changes = name, items, changes
        self.ids = generator.integers(0, points, items * changes)
        self.places = numpy.round(numpy.stack([generator.uniform(-179, 179, items * changes), generator.uniform(-80, 80, items * changes)], 1), 5)
        self.path, offsets = f"{folder}/{name}", [0]
        with open(self.path, "wb") as file:
            for item in range(items):
                part = slice(item * changes, (item + 1) * changes)
                features = ",".join(
                    f'{{"type":"Feature","id":{i},"geometry":{{"type":"Point","coordinates":[{x},{y}]}},"properties":{{"speed":{i % 120}}}}}'
                    for i, (x, y) in zip(self.ids[part].tolist(), self.places[part].tolist()))
                file.write(frame(f'{{"id":1,"item":{{"position":"{item + 1}","upsert":[{features}]}}}}'.encode()))
                offsets.append(file.tell())
        self.offsets = offsets

    def model(self, points, upto):
        """Where the features are after the first items."""
        points[self.ids[:upto * self.changes]] = self.places[:upto * self.changes]


class Daemon:
    def __init__(self, binaries, folder):
        self.binaries, self.folder, self.path = binaries, folder, f"{folder}/s"
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [f"{self.binaries}/clusterd", "--socket", self.path, "--state-dir", f"{self.folder}/state", "--log-level", "warning"])
        connect(self.path).close()

    def control(self, *words, **how):
        return subprocess.run([f"{self.binaries}/clusterctl", "--socket", self.path, *words], check=True, capture_output=True, **how).stdout

    def kill(self):
        self.process.kill()
        self.process.wait()

    def memory(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))

    def processor(self):
        with open(f"/proc/{self.process.pid}/stat") as file:
            words = file.read().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def fill(self, points):
        self.control("create", "fleet")
        lines = "\n".join(
            f'{{"type":"Feature","id":{i},"geometry":{{"type":"Point","coordinates":[{x},{y}]}},"properties":{{"speed":{i % 120}}}}}'
            for i, (x, y) in enumerate(points.tolist()))
        self.control("import", "fleet", "-", input=lines.encode())

    def points(self, count):
        found = numpy.full((count, 2), numpy.nan)
        connection = connect(self.path)
        connection.sendall(call(1, "SourceService/GetFeatures", {"source": "fleet"}))
        frames = Frames(connection)
        while True:
            message = json.loads(frames.next()[0])
            if "item" not in message:
                assert "end" in message, message
                return found
            for feature in message["item"]["features"]:
                found[feature["id"]] = feature["geometry"]["coordinates"]


def watch(path, pipe, stop):
    """Sends what a watcher has and when: pairs of position and time."""
    connection = connect(path)
    connection.sendall(call(1, "ClusterService/WatchClusters", EUROPE))
    frames, seen = Frames(connection), []
    pipe.send("ready")
    connection.settimeout(1)
    while not stop.is_set():
        try:
            text, now = frames.next()
        except OSError:
            continue
        found = POSITION.findall(text[:200]) + POSITION.findall(text[-200:])
        if found:
            seen.append((int(found[-1]), now))
    pipe.send(seen)


def view(path, pipe, stop):
    """Sends what 50 views a second took, each of another place and zoom: from the call's first byte to the answer's last. What it does itself
    meanwhile is as little as can be, since it has to share the processors with what it measures."""
    connection, r, took = connect(path), random.Random(1), []
    answer = memoryview(bytearray(1 << 24))
    pipe.send("ready")
    while not stop.is_set():
        zoom = r.randrange(2, 13)
        width = 360 / 2 ** zoom * 4
        x, y = r.uniform(-170, 170), r.uniform(-60, 60)
        message = call(1, "ClusterService/GetClusters", {
            "source": "fleet", "bbox": [x - width / 2, max(-85, y - width / 4), x + width / 2, min(85, y + width / 4)], "zoom": zoom})
        time.sleep(0.02)
        begun, count, end = time.monotonic(), 0, 5
        connection.sendall(message)
        while count < end:
            received = connection.recv_into(answer[count:])
            assert received, "the daemon has closed, or the answer is too long"
            count += received
            if count >= 5:
                end = 5 + int.from_bytes(answer[1:5])
        took.append(time.monotonic() - begun)
        assert b'"features"' in bytes(answer[:end]), bytes(answer[:200])
    pipe.send(took)


def beside(body, *arguments):
    """A process that runs beside; calling it ends it and gives what it has found."""
    near, far = multiprocessing.Pipe()
    stop = multiprocessing.Event()
    process = multiprocessing.Process(target=body, args=(*arguments, far, stop))
    process.start()
    near.recv()

    def end():
        stop.set()
        found = near.recv()
        process.join()
        return found
    return end


class Sender:
    """Applies a log, in time or as fast as it is taken, and goes on after a failure."""

    def __init__(self, daemon, log, rate):
        self.daemon, self.log, self.rate = daemon, log, rate
        self.answered, self.begun, self.resumed = 0, None, None
        with open(log.path, "rb") as file:
            self.bytes = memoryview(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))

    def open(self):
        connection = connect(self.daemon.path)
        connection.sendall(call(1, "SourceService/ApplyChanges", {"source": "fleet", "log": self.log.name}))
        frames = Frames(connection)
        text = frames.next()[0]
        found = POSITION.search(text)
        if b'"item"' not in text:
            raise OSError(text.decode())
        return connection, frames, int(found[1]) if found else 0

    def run(self):
        while self.answered < self.log.items:
            try:
                connection, frames, position = self.open()
                sent = position
                reader = threading.Thread(target=self.read, args=(frames,))
                reader.start()
                self.send(connection, sent)
                reader.join()
            except OSError as error:
                if self.daemon.process.poll() is None and not isinstance(error, (ConnectionError,)) and "closed" not in str(error):
                    raise
                time.sleep(0.01)
        self.ended = time.monotonic()

    def send(self, connection, sent):
        if self.begun is None:
            self.begun = time.monotonic()
        while sent < self.log.items:
            due = self.log.items
            if self.rate:
                due = min(due, int((time.monotonic() - self.begun) * self.rate))
            if due == sent:
                time.sleep(0.0005)
                continue
            due = min(due, sent + 100)
            connection.sendall(self.bytes[self.log.offsets[sent]:self.log.offsets[due]])
            sent = due

    def read(self, frames):
        try:
            while self.answered < self.log.items:
                text, now = frames.next()
                found = POSITION.search(text)
                assert found, text
                self.answered = int(found[1])
                if self.resumed is None and self.target and self.answered > self.target:
                    self.resumed = now
        except OSError:
            pass

    target = None


def share(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def steady(daemon, log):
    watched, viewed = beside(watch, daemon.path), beside(view, daemon.path)
    sender = Sender(daemon, log, ITEMS)
    memory, processor = [], daemon.processor()
    thread = threading.Thread(target=sender.run)
    thread.start()
    while thread.is_alive():
        thread.join(1)
        memory.append(daemon.memory())
    time.sleep(1)
    took = sender.ended - sender.begun
    processor = daemon.processor() - processor
    seen, views = watched(), viewed()
    late, next_one = [], 1
    for position, now in seen:
        while next_one <= position:
            late.append(now - sender.begun - next_one / ITEMS)
            next_one += 1
    assert next_one > log.items, f"the watcher has {next_one - 1} of {log.items} items"
    half = memory[len(memory) // 3: len(memory) // 2 + 1], memory[-len(memory) // 4:]
    print(f"{log.changes * ITEMS:,} changes a second for {took:.1f} s: visible after "
          f"{share(late, .5) * 1000:.0f} ms (p50), {share(late, .99) * 1000:.0f} ms (p99), {max(late) * 1000:.0f} ms (most); "
          f"views {share(views, .5) * 1000:.2f} ms (p50), {share(views, .99) * 1000:.2f} ms (p99); "
          f"memory {statistics.mean(half[0]):.0f} MiB, at the end {statistics.mean(half[1]):.0f} MiB, most {max(memory):.0f} MiB; "
          f"{processor / took:.2f} processors; {len(seen)} changes of the watcher", flush=True)


def kill(daemon, log, points):
    sender = Sender(daemon, log, ITEMS)
    thread = threading.Thread(target=sender.run)
    thread.start()
    while sender.answered < log.items // 2:
        time.sleep(0.01)
    daemon.kill()
    killed = time.monotonic()
    sender.target = sender.answered
    daemon.start()
    thread.join()
    log.model(points, log.items)
    same = numpy.array_equal(daemon.points(len(points)), points)
    print(f"killed at {log.changes * ITEMS:,} changes a second: the next answer comes {(sender.resumed - killed) * 1000:.0f} ms later; "
          f"the source {'equals' if same else 'DIFFERS FROM'} the log", flush=True)
    return same


def most(daemon, log):
    sender = Sender(daemon, log, None)
    processor = daemon.processor()
    sender.run()
    took = sender.ended - sender.begun
    return log.items * log.changes / took, (daemon.processor() - processor) / took


def redis(folder, log, points):
    """GEOADD of the same changes, over a Unix socket, in a pipeline, with its journal synced each second."""
    path = f"{folder}/redis"
    process = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", path, "--dir", folder, "--appendonly", "yes", "--save", ""],
                               stdout=subprocess.DEVNULL)
    try:
        def text(ids, places):
            words = [b"GEOADD", b"fleet"]
            for i, (x, y) in zip(ids, places):
                words += [str(x).encode(), str(y).encode(), str(i).encode()]
            return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)

        def run(ids, places, count):
            commands = [text(ids[i:i + count], places[i:i + count]) for i in range(0, len(ids), count)]
            connection = connect(path)
            begun = time.monotonic()
            reader = threading.Thread(target=lambda: [file.readline() for _ in commands])
            file = connection.makefile("rb")
            reader.start()
            for i in range(0, len(commands), 100):
                connection.sendall(b"".join(commands[i:i + 100]))
            reader.join()
            return len(ids) / (time.monotonic() - begun)

        run(range(len(points)), numpy.clip(points, -85, 85).tolist(), 100)
        return run(log.ids.tolist(), log.places.tolist(), log.changes)
    finally:
        process.kill()
        process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--bin", default=os.path.join(ROOT, ".build", "release"))
    parser.add_argument("--only", nargs="+", default=["steady10", "steady100", "kill", "most"])
    arguments = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="feeds-", dir=os.environ.get("TMPDIR", "/tmp"))
    generator = numpy.random.default_rng(1)
    places = numpy.round(numpy.stack([generator.uniform(-179, 179, arguments.points), generator.uniform(-80, 80, arguments.points)], 1), 5)
    failed = False
    try:
        for part in arguments.only:
            shutil.rmtree(f"{folder}/state", ignore_errors=True)
            items = arguments.seconds * ITEMS
            log = Log(folder, part, items if part.startswith("steady") else items // 3, 10 if part == "steady10" else 100, arguments.points)
            daemon = Daemon(arguments.bin, folder)
            try:
                daemon.fill(places)
                time.sleep(2)
                if part.startswith("steady"):
                    steady(daemon, log)
                elif part == "kill":
                    failed |= not kill(daemon, log, places.copy())
                else:
                    rate, processors = most(daemon, log)
                    line = f"at most: {rate:,.0f} changes a second ({processors:.2f} processors)"
                    if shutil.which("redis-server"):
                        daemon.kill()
                        other = redis(folder, log, places)
                        line += f"; GEOADD of Redis {other:,.0f}, a ratio of {rate / other:.2f}"
                    print(line, flush=True)
            finally:
                daemon.kill()
            os.unlink(log.path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()

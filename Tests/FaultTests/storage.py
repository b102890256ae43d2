# SPDX-License-Identifier: MIT
"""Faults of the disk: calls that fail, power that is lost, bytes that change, sectors and disks that do not answer."""
import errno, hashlib, json, os, shutil, signal, struct, threading, time, zlib
from concurrent.futures import ThreadPoolExecutor
from harness import OPERATIONS, PATIENCE, WORLD, CallError, Daemon, Fault, Work, check, difference, feature, served

WORKERS = 4
# In place of an error: half of a write is written.
SHORT = -1


def each(jobs, body):
    """Runs body(job) for all, some at a time; raises the first faults that were found."""
    found = []

    def run(job):
        try:
            body(job)
        except Fault as fault:
            found.append(f"{job}: {fault}")
    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(run, jobs))
    check(not found, f"{len(found)} of {len(jobs)}: " + "\n    ".join(found[:5]))
    return f"{len(jobs)} cases"


class Idle:
    """Daemons without sources, which cases use one after another; a daemon that showed a fault is not used again."""

    def __init__(self):
        self.daemons, self.lock = [], threading.Lock()

    def run(self, body):
        """Runs body(daemon, work)."""
        with self.lock:
            daemon = self.daemons.pop() if self.daemons else None
        if not daemon:
            daemon = Daemon()
            daemon.start()
        try:
            work = Work(daemon.client())
            body(daemon, work)
            client = daemon.client()
            for source in work.model:
                client.call("SourceService/DeleteSource", source=source)
            client.close()
            with self.lock:
                self.daemons.append(daemon)
        except BaseException:
            daemon.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for daemon in self.daemons:
            daemon.__exit__()


def calls():
    """Each call to the file system fails, once or from then on, while sources change; then the daemon is killed."""
    with Daemon() as daemon:
        daemon.start()
        client, counts = daemon.client(), {}
        # How often each operation comes while nothing fails.
        for name in ("create", "write", "sync", "sync_directory", "rename", "unlink", "mkdir", "rmdir", "open", "truncate"):
            counts[name] = 0
        for name in counts:
            daemon.control.arm([name], before=1 << 30)
            work = Work(client)
            work.all()
            counts[name] = daemon.control.seen
            for source in list(work.model):
                client.call("SourceService/DeleteSource", source=source)
        daemon.control.arm(["write"], before=1 << 30, path="journal")
        Work(client).all()
        journal_writes = daemon.control.seen
    # Sections of snapshots are written by many calls: some of them stand for all.
    jobs = [(name, number, count, errno.EIO if count == 1 else errno.ENOSPC)
            for name, most in counts.items()
            for number in range(0, most, 5 if name == "write" else 1)
            for count in (1, -1)]
    # A later snapshot hides what is missing in one before it.
    jobs += [("write", number, 1, SHORT) for number in range(journal_writes)]
    never = [name for name, count in counts.items() if count == 0 and name != "truncate"]
    check(not never, f"the library sees no {never}")
    came = []

    def run(job):
        name, number, count, error = job

        def body(daemon, work):
            daemon.control.arm([name], number, count, error, "journal" if error == SHORT else "")
            work.all()
            daemon.control.disarm()
            has_come = daemon.control.failed > 0
            came.append(has_come)
            # A machine that stops loses what is not on disk; a daemon that is killed loses nothing. A single failure may be one of
            # the background, which fails no call.
            check(work.failed or not has_come or count == 1 or not name.startswith("sync"),
                  "a change was acknowledged that is not on disk")
            found, notes = served(daemon.client())
            check(not difference(found, work.model) and not notes, f"it serves {difference(found, work.model)} {notes}")
            daemon.restart()
            found, notes = served(daemon.client())
            check(not difference(found, work.model), f"after a restart {difference(found, work.model)}")
            check(not notes, f"after a restart it reports {notes}")
        idle.run(body)
    with Idle() as idle:
        return with_faults(each(jobs, run), came, 0.8)


def successor():
    """A source is deleted while its snapshot is being written, and created again while that goes on."""
    def run(operation):
        with Daemon() as daemon:
            daemon.start()
            control, work = daemon.control, Work(daemon.client())
            work.create("a")
            work.update("a", range(50))
            # Both make the second generation. The first file of a snapshot in the background is its journal.
            control.arm([operation], 1, 1, 0, "new-2", 1000 * PATIENCE)
            work.options("a", 60)
            until(lambda: control.failed, "the snapshot does not begin")
            work.delete("a")
            work.create("a")
            control.arm(["sync"], 0, 1, 0, "new-2", 1000 * PATIENCE)
            importing = threading.Thread(target=work.put, args=("a", range(100, 150)))
            importing.start()
            until(lambda: control.failed, "the import does not begin")
            control.wait = 0
            importing.join()
            check(not work.failed, "a call failed")
            for _ in range(2):
                found, notes = served(daemon.client())
                check(not difference(found, work.model) and not notes, f"it serves {difference(found, work.model)} {notes}")
                daemon.restart()
    return each(["create", "write", "sync"], run)


def until(holds, text):
    """Waits until holds(); the text says what is wrong otherwise."""
    end = time.monotonic() + PATIENCE
    while not holds():
        check(time.monotonic() < end, text)
        time.sleep(0.002)


def with_faults(cases, came, part):
    """Checks that the faults came, in a part of the cases at least: what is done in the background differs."""
    count = sum(came)
    check(count >= part * len(came), f"{cases}, and only {count} faults came")
    return f"{cases}, {count} faults"


def undone():
    """A creation or deletion fails, and so does all that would take it back: when the disk is good again it is undone."""
    came = []
    kinds = ("open", "create", "write", "sync", "sync_directory", "rename", "unlink", "mkdir", "rmdir", "truncate")

    def run(job):
        what, number, name = job

        def body(daemon, work):
            for source in "ab":
                work.create(source)
                work.put(source, range(20))
            daemon.control.arm(kinds, number, -1)
            work.delete("b") if what == "delete" else work.create("c")
            daemon.control.disarm()
            came.append(daemon.control.failed > 0)
            # Any other change, of this source or a new one.
            work.update("a", [900]) if name == "a" else work.create(name)
            check(work.last_succeeded, "a change fails when the disk is good again")
            for _ in range(2):
                found, notes = served(daemon.client())
                check(not difference(found, work.model) and not notes, f"it serves {difference(found, work.model)} {notes}")
                daemon.restart()
        idle.run(body)
    with Daemon() as daemon:
        daemon.start()
        work, counts = Work(daemon.client()), {}
        for what, change in (("create", work.create), ("delete", work.delete)):
            daemon.control.arm(kinds, before=1 << 30)
            change("a")
            counts[what] = daemon.control.seen
    with Idle() as idle:
        cases = each([(what, number, name) for what, most in counts.items() for number in range(most)
                      for name in "ad"], run)
        return with_faults(cases, came, 0.5)


def prepare(daemon):
    """A state directory with two sources, one of them with two generations and a journal; what it has."""
    daemon.start()
    client, work = daemon.client(), None
    work = Work(client)
    for source in "ab":
        work.create(source)
        work.put(source, range(20))
        work.update(source, [500])
    work.put("a", range(1000, 1030))
    work.update("a", [2000])
    daemon.kill()
    return work.model


def copy_of(base):
    daemon = Daemon()
    shutil.copytree(base.state, daemon.state)
    return daemon


def starts():
    """One call fails while the daemon starts: it tries again. What it serves, it serves as it was acknowledged, and the
    next start serves everything."""
    with Daemon() as base:
        model = prepare(base)
        counts = {}
        for name in OPERATIONS:
            with copy_of(base) as daemon:
                daemon.control.arm([name], before=1 << 30)
                daemon.start()
                counts[name] = daemon.control.seen
        jobs = [(name, number, error) for name in OPERATIONS for number in range(counts[name])
                for error in ((errno.EIO, errno.EMFILE) if name in ("open", "list") else (errno.EIO,))]

        check(counts["read"] and counts["open"], f"the library sees {counts}")
        came = []

        def run(job):
            name, number, error = job
            with copy_of(base) as daemon:
                daemon.control.arm([name], number, 1, error)
                is_up = daemon.start(must=False)
                came.append(daemon.control.failed > 0)
                if is_up:
                    found, _ = served(daemon.client())
                    wrong = {source: value for source, value in found.items() if value != model.get(source)}
                    check(not wrong, f"it serves {difference(wrong, model)}")
                daemon.restart()
                found, notes = served(daemon.client())
                check(not difference(found, model) and not notes, f"the next start: {difference(found, model)} {notes}")
        return with_faults(each(jobs, run), came, 0.8)


# Power loss: the disk as it can be after the machine has stopped at any moment.

class File:
    def __init__(self):
        self.bytes, self.safe, self.last = b"", b"", None

    def write(self, offset, data):
        self.last = (offset, data)
        whole = self.bytes.ljust(offset, b"\0")
        self.bytes = whole[:offset] + data + whole[offset + len(data):]

    def torn(self):
        """As `bytes`, but of the last write only half has reached the disk."""
        if self.last is None or self.bytes == self.safe:
            return self.bytes
        offset, data = self.last
        half = len(data) // 2
        old = self.safe.ljust(len(self.bytes), b"\0")
        return self.bytes[:offset + half] + old[offset + half:offset + len(data)] + self.bytes[offset + len(data):]


class Disk:
    """The files below a directory, as processes see them and as the disk has them for certain."""

    def __init__(self, root):
        self.root, self.names, self.pending = root, {}, []
        self.safe = {}
        # Files by the name under which they were opened: what is written to them later has no name.
        self.opened = {}

    def file(self, path):
        return self.opened.get(path) or self.names[path]

    def apply(self, operation, path, target, offset, data):
        if operation == "create":
            if path not in self.names:
                self.rename([(path, File())])
            elif offset:
                self.names[path].bytes, self.names[path].last = b"", None
            self.opened[path] = self.names[path]
        elif operation == "mkdir":
            self.rename([(path, None)])
        elif operation in ("unlink", "rmdir"):
            self.rename([(path, False)])
        elif operation == "link":
            self.rename([(target, self.names[path])])
        elif operation == "rename":
            moved = [name for name in self.names if name == path or name.startswith(path + "/")]
            self.rename([(name, False) for name in moved]
                        + [(target + name[len(path):], self.names[name]) for name in moved])
        elif operation == "write":
            self.file(path).write(offset, data)
        elif operation == "truncate":
            file = self.file(path)
            file.bytes, file.last = file.bytes[:offset].ljust(offset, b"\0"), None
        elif operation == "sync":
            self.file(path).safe = self.file(path).bytes
        elif operation == "sync_directory":
            # The names in this directory are on disk, and what lies in directories that were renamed within it.
            rest = []
            for change in self.pending:
                if any(os.path.dirname(name) == path for name, _ in change):
                    self.settle(self.safe, change)
                else:
                    rest.append(change)
            self.pending = rest

    def rename(self, change):
        self.settle(self.names, change)
        self.pending.append(change)

    @staticmethod
    def settle(names, change):
        for name, file in change:
            if file is False:
                names.pop(name, None)
            else:
                names[name] = file

    def states(self):
        """What a start can find: names in order or one of them alone; contents safe, all, or torn."""
        orders = [[], self.pending, self.pending[:len(self.pending) // 2]] + [[change] for change in self.pending]
        for changes in orders:
            names = dict(self.safe)
            for change in changes:
                self.settle(names, change)
            # What has lost its directory is not there.
            names = {name: file for name, file in names.items()
                     if os.path.dirname(name) == self.root or names.get(os.path.dirname(name), False) is None}
            for contents in (lambda f: f.safe, lambda f: f.bytes, File.torn):
                yield {name: None if file is None else contents(file) for name, file in names.items()}


def entries(path, start=0):
    """What the shim has recorded from some byte on."""
    with open(path, "rb") as file:
        file.seek(start)
        raw = file.read()
    place = 0
    while place < len(raw):
        operation, a, b, size, offset = struct.unpack_from("<4Iq", raw, place)
        place += 24
        yield (OPERATIONS[operation], raw[place:place + a].decode(), raw[place + a:place + a + b].decode(), offset,
               raw[place + a + b:place + a + b + size])
        place += a + b + size


def power():
    """Power is lost between any two calls; what the disk can have then is served without a loss, and without a
    report of one."""
    with Daemon(record=True) as daemon:
        daemon.start()
        work, marks = Work(daemon.client()), []
        step = work.step

        def counted(change, call):
            step(change, call)
            marks.append((os.path.getsize(daemon.record), dict(work.model)))
        work.step = counted
        work.all()
        daemon.kill()
        disk, jobs, seen, place, last = Disk(daemon.state), [], set(), 0, -1
        models = [{}] + [model for _, model in marks]
        recorded = list(entries(daemon.record))
        for number, entry in enumerate(recorded):
            disk.apply(*entry)
            place += 24 + len(entry[1].encode()) + len(entry[2].encode()) + len(entry[4])
            following = recorded[number + 1][:2] if number + 1 < len(recorded) else None
            # Of a snapshot's sections, written one after another to a file that nobody reads, one stands for all.
            if entry[0] == "write" and following == entry[:2] and "new-" in entry[1]:
                continue
            done = sum(end <= place for end, _ in marks)
            allowed = [models[done]] + models[done + 1:done + 2]
            for state in disk.states():
                digest = hashlib.sha256(repr(sorted(state.items())).encode()).digest() + bytes([done])
                if digest not in seen:
                    seen.add(digest)
                    jobs.append((f"call {number} ({entry[0]} {entry[1][len(daemon.state):]})", state, allowed))

        def run(job):
            _, state, allowed = job
            with Daemon() as other:
                os.makedirs(other.state)
                for name, data in sorted(state.items()):
                    path = other.state + name[len(daemon.state):]
                    if data is None:
                        os.makedirs(path, exist_ok=True)
                    else:
                        with open(path, "wb") as file:
                            file.write(data)
                other.start()
                found, notes = served(other.client())
                check(found in allowed, f"it serves {difference(found, allowed[0])}")
                check(not notes, f"it reports {notes}")

        class Job(tuple):
            def __repr__(self):
                return self[0]
        return each([Job(job) for job in jobs], run)


def files_of(folder):
    """What files there are, by content."""
    found = set()
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                with open(os.path.join(path, name), "rb") as file:
                    found.add(hashlib.sha256(file.read()).hexdigest())
            except FileNotFoundError:
                # The daemon runs, and replaces files.
                return files_of(folder)
    return found


def recovered():
    """A record is written, and the daemon killed before it is on disk: who starts next makes sure of it before it is
    served."""
    with Daemon(record=True) as daemon:
        daemon.start()
        work = Work(daemon.client())
        work.create("a")
        work.put("a", range(20))
        work.update("a", [100])
        daemon.control.arm(["sync"], 0, 1, -2, "sources/a/")
        try:
            daemon.client().update("a", [feature(101)])
            raise Fault("the change was answered")
        except (EOFError, OSError):
            daemon.process.wait()
        daemon.control.disarm()
        before = os.path.getsize(daemon.record)
        daemon.start()
        count = len(daemon.client().query("a"))
        synced = [entry for entry in entries(daemon.record, before) if entry[0] == "sync" and "journal" in entry[1]]
        check(count == 21 or synced, f"{count} features are served, and nobody knows whether the disk has them")
        check(count in (21, 22), f"{count} features are served")
    return "one record"


def fields(path):
    """Places in a file's header and, of a snapshot, in the table of its sections."""
    with open(path, "rb") as file:
        data = file.read()
    table = struct.unpack_from("<Q", data, 32)[0] if path.endswith("snapshot") else len(data)
    return [*range(9, 64, 4), *range(table, len(data), 17)]


def damage():
    """A byte of a file changes, it ends early, or is of a later format: nothing is deleted, and only its source notices."""
    with Daemon() as base:
        model = prepare(base)
        older = {("a",): [(frozenset((n, n) for n in range(20)) | {(500, 500)}, 40)]}
        jobs = []
        for name in ("3.snapshot", "3.journal"):
            size = os.path.getsize(f"{base.state}/sources/a/{name}")
            jobs += [(name, "flip", place) for place in range(3, size, max(1, size // 24))]
            jobs += [(name, "flip", 66)]
            # Steps over the whole file come to few bytes of the fields that say where all else is.
            jobs += [(name, "flip", place) for place in fields(f"{base.state}/sources/a/{name}")]
            jobs += [(name, "cut", size // 2), (name, "cut", 0), (name, "zeros", size // 2), (name, "later", 0)]

        def run(job):
            name, how, place = job
            with copy_of(base) as daemon:
                path = f"{daemon.state}/sources/a/{name}"
                with open(path, "rb") as file:
                    data = bytearray(file.read())
                if how == "flip":
                    data[place] ^= 4
                elif how == "cut":
                    data = data[:place]
                elif how == "zeros":
                    data[place:] = bytes(len(data) - place)
                else:
                    data = later(data)
                with open(path, "wb") as file:
                    file.write(data)
                digest = hashlib.sha256(data).hexdigest()
                for attempt in range(2):
                    daemon.start()
                    client = daemon.client()
                    found, notes = served(client)
                    check(found.get("b") == model["b"], "another source noticed")
                    a = found.get("a")
                    is_old = isinstance(a, tuple) and a[0] < model["a"][0] | older[("a",)][0][0]
                    check(a == model["a"] or "a" in notes and (is_old or a in ("damaged", "unavailable")),
                          f"a has {difference({'a': a}, model)}, reported: {notes.get('a')}")
                    # A journal's mark only says what was known to be on disk; its records are good.
                    if how == "flip" and name.endswith("journal") and 64 <= place < 76:
                        check(a == model["a"], "a damaged mark costs records that are good")
                    if a != model["a"] and digest not in files_of(daemon.state):
                        raise Fault("the damaged file is gone")
                    if how == "later":
                        check(a == "unavailable", f"a later format is served as {a}")
                        check(os.path.exists(path), "the file of a later format was moved")
                    client.close()
                    daemon.kill()
        return each(jobs, run)


def gaps():
    """One record of a journal is damaged: all others count, and what is changed afterwards stays."""
    with Daemon() as base:
        base.start()
        work = Work(base.client())
        work.create("a")
        work.put("a", range(20))
        ends = []
        for number in range(10):
            work.update("a", [100 + number])
            ends.append(os.path.getsize(f"{base.state}/sources/a/2.journal"))
        base.kill()
        jobs = [("header", 48)] + [(f"record {number}", end - 5) for number, end in enumerate(ends)]
        jobs += [(f"header of record {number}", end + 3) for number, end in enumerate(ends[:-1])]

        def run(job):
            what, place = job
            with copy_of(base) as daemon:
                path = f"{daemon.state}/sources/a/2.journal"
                with open(path, "r+b") as file:
                    data = bytearray(file.read())
                    data[place] ^= 1
                    file.seek(0)
                    file.write(data)
                daemon.start()
                client = daemon.client()
                points = 30 if what == "header" else 29
                found = len(client.query("a"))
                check(found == points, f"{found} of {points} features are served")
                _, notes = served(client)
                check(("a" in notes) == (points < 30), f"it reports {notes}")
                client.update("a", [feature(number) for number in range(5000, 5005)])
                daemon.kill()
                daemon.start()
                found = len(daemon.client().query("a"))
                check(found == points + 5, f"after another start {found} of {points + 5} features are served")
        return each(jobs, run)


def later(data):
    """A file's bytes as a later format would have them."""
    head = bytearray(data[:64])
    head[8:12] = struct.pack("<I", 99)
    head[20:24] = bytes(4)
    head[20:24] = struct.pack("<I", zlib.crc32(bytes(head)))
    return head + data[64:]


def sectors():
    """A file cannot be read: only its source is unavailable, and comes back by itself."""
    with Daemon() as base:
        model = prepare(base)
        jobs = [("sources/a/3.snapshot",), ("sources/a/3.journal",), ("sources/a/2.snapshot",)]

        def run(job):
            with copy_of(base) as daemon:
                daemon.control.arm(["read"], 0, -1, errno.EIO, job[0])
                daemon.start()
                client = daemon.client()
                found, _ = served(client)
                check(found["b"] == model["b"], "another source noticed")
                # The snapshot before the newest is not read while that is good.
                is_read = "/3." in job[0]
                check(found["a"] == ("unavailable" if is_read else model["a"]), f"a is {found['a']}")
                if is_read:
                    check(daemon.control.failed > 0, "no read failed")
                    try:
                        client.query("a")
                        raise Fault("a query was answered")
                    except CallError as error:
                        check(error.status == "UNAVAILABLE", f"a query got {error}")
                daemon.control.disarm()
                end = time.monotonic() + PATIENCE
                while served(client)[0] != model:
                    check(time.monotonic() < end, "it does not come back")
                    time.sleep(0.01)
        return each(jobs, run)


def slow():
    """The disk of one source does not answer: other sources are changed, made and deleted, and queries answered."""
    with Daemon() as daemon:
        daemon.start()
        client = daemon.client()
        for source in ("a", "b", "gone"):
            client.call("SourceService/CreateSource", source=source)
            client.put(source, [feature(n) for n in range(100)])
        daemon.control.arm(["sync"], 0, -1, 0, "sources/a/", wait=10 * 60 * 1000)
        answered = []

        def change(number):
            daemon.client(600).update("a", [feature(1000 + number)])
            answered.append(number)
        threads = [threading.Thread(target=change, args=(number,)) for number in range(24)]
        for thread in threads:
            thread.start()
        try:
            while daemon.control.failed == 0:
                time.sleep(0.002)
            # Each of these would wait for the disk if it took what those hold; then the client gives up.
            for _ in range(3):
                daemon.client().update("b", [feature(2000)])
            other = daemon.client()
            other.call("SourceService/CreateSource", source="new")
            other.put("new", [feature(1)])
            other.call("SourceService/UpdateOptions", source="b", options={"radius": 50})
            other.call("SourceService/DeleteSource", source="gone")
            check(len(other.query("a")) == 100, "a source with a slow disk is not served")
            check(len(other.call("SourceService/ListSources")["sources"]) == 3, "sources are missing")
            check(not answered, "a change was answered that is not on disk")
        except TimeoutError:
            raise Fault("a call for another source waits for the disk")
        finally:
            daemon.control.disarm()
            daemon.control.wait = 0
        for thread in threads:
            thread.join()
        check(len(answered) == 24 and len(daemon.client().query("a")) == 124, "changes were lost")
        # Changes of several connections, so that each of the daemon's loops has one that waits. The shim knows a file by the name
        # under which it was opened.
        waiting = [daemon.client() for _ in range(4)]
        for number, other in enumerate(waiting):
            other.call("SourceService/CreateSource", source=f"w{number}")
        daemon.control.arm(["sync"], 0, -1, 0, "sources/.new-w", wait=10 * 60 * 1000)
        for number, other in enumerate(waiting):
            other.open("SourceService/UpdateFeatures", source=f"w{number}", upsert=[feature(5000)])
        while daemon.control.failed < len(waiting):
            time.sleep(0.002)
        # The disk still does not answer.
        check(daemon.end() == 0, "it does not end")
        daemon.control.wait = 0
    return "24 changes wait, others do not"


def hanging():
    """The disk of one source does not answer while the daemon starts: other sources are served, calls on that one wait, and it
    has all its data once the disk answers."""
    points = [feature(n) for n in range(100)]
    with Daemon(config={"limits": {"startSeconds": 1}}) as daemon:
        # On several it would read other sources beside the one that hangs, even if that kept its thread.
        daemon.has_one_processor = True
        daemon.start()
        client = daemon.client()
        for source in "abc":
            # A source whose features expire begins once the others have been read, or the daemon serves.
            options = {"ttlSeconds": 10**6} if source == "b" else {}
            client.call("SourceService/CreateSource", source=source, options=options)
            client.put(source, points)
            client.update(source, [feature(1000)])
        model, _ = served(client)
        for operation in ("read", "list", "open"):
            daemon.kill()
            # A name is in its own directory only: that of "a" hangs.
            daemon.control.arm([operation], 0, -1, 0, "sources/a", wait=10 * 60 * 1000)
            daemon.start()
            try:
                client = daemon.client()
                check(len(client.query("b")) == 101 and len(client.query("c")) == 101, "another source lacks features")
                for number in range(3):
                    client.update("b", [feature(2000 + number)])
                client.call("SourceService/DeleteSource", source="c")
                client.call("SourceService/CreateSource", source="c")
                client.put("c", points + [feature(1000)])
                client.call("SourceService/UpdateFeatures", source="b", remove=[2000, 2001, 2002])
                states = {s["source"]: s["state"] for s in client.call("SourceService/ListSources")["sources"]}
                check(states == {"a": "loading", "b": "ready", "c": "ready"}, f"the sources are {states}")
                waiting = daemon.client(600)
                waiting.open("SourceService/UpdateFeatures", source="a", upsert=[feature(1000)])
                for method, params, timeout, status in (
                        ("SourceService/CreateSource", {}, None, "ALREADY_EXISTS"),
                        ("SourceService/DeleteSource", {}, 50, "DEADLINE_EXCEEDED"),
                        ("ClusterService/GetClusters", {"bbox": WORLD, "zoom": 1}, 50, "DEADLINE_EXCEEDED")):
                    try:
                        client.call(method, timeout=timeout, source="a", **params)
                        raise Fault(f"{method} succeeds on a source that has not been read")
                    except CallError as error:
                        check(error.status == status, f"{method} got {error}")
            except TimeoutError:
                raise Fault(f"a call waits for the disk of another source ({operation})")
            finally:
                daemon.control.disarm()
                daemon.control.wait = 0
            waiting.receive()
            found, notes = served(client)
            check(not difference(found, model) and not notes, f"{operation}: {difference(found, model)} {notes}")
        declared(daemon, model)
        # It ends although the disk still does not answer, before it serves and while it does.
        for seconds in (0, 600):
            daemon.kill()
            daemon.config = {"limits": {"startSeconds": seconds}}
            daemon.control.arm(["read"], 0, -1, 0, "sources/a/", wait=10 * 60 * 1000)
            daemon.launch()
            if seconds == 0:
                daemon.wait_until_it_answers()
                daemon.client().open("SourceService/UpdateFeatures", source="a", upsert=[feature(1)])
            while daemon.control.failed == 0:
                time.sleep(0.002)
            check(daemon.end() == 0, f"it does not end ({seconds})")
            daemon.control.disarm()
            daemon.control.wait = 0
        daemon.start()
        found, notes = served(daemon.client())
        check(not difference(found, model) and not notes, f"at last: {difference(found, model)} {notes}")
    return "reads, lists and opens wait, others do not"


def declared(daemon, model):
    """The same for declared sources: they are filled, or deleted if they are no longer declared, once they have been read."""
    file = f"{daemon.folder}/points.json"
    with open(file, "w") as output:
        json.dump({"type": "FeatureCollection", "features": [feature(n) for n in range(50)]}, output)
    without = dict(daemon.config)
    for is_kept in (True, False):
        daemon.kill()
        daemon.config = {**without, "sources": {name: {"file": file} for name in ("a", "new")}}
        daemon.control.arm(["read"], 0, -1, 0, "sources/a/", wait=10 * 60 * 1000)
        daemon.start()
        client = daemon.client()
        check(len(client.query("b")) == 101 and len(client.query("new")) == 50, "another source waits for the disk")
        if not is_kept:
            daemon.config = {**without, "sources": {"new": {"file": file}}}
            daemon.write_config()
            daemon.process.send_signal(signal.SIGHUP)
            while not client.call("ServerService/GetServerInfo").get("lastReload"):
                time.sleep(0.01)
        check(os.listdir(f"{daemon.state}/sources/a"), "a source is deleted that has not been read")
        daemon.control.disarm()
        daemon.control.wait = 0
        # Once it has been read, it is filled from the file, or deleted.
        while True:
            sources = client.call("SourceService/ListSources")["sources"]
            points = next((s["points"] for s in sources if s["source"] == "a"), None)
            if points == (50 if is_kept else None):
                break
            time.sleep(0.01)
    daemon.config = without
    client.call("SourceService/CreateSource", source="a")
    client.put("a", [feature(n) for n in range(100)])
    client.update("a", [feature(1000)])
    daemon.kill()
    daemon.start()
    model["new"] = (frozenset((n, n) for n in range(50)), 40)
    found, notes = served(daemon.client())
    check(not difference(found, model) and not notes, f"declared: {difference(found, model)} {notes}")


def background():
    """The disk of one source does not answer what is done without a call: other sources' features still expire, their
    snapshots are written, and the daemon ends."""
    with Daemon() as daemon:
        daemon.start()
        client = daemon.client()
        for source, seconds in (("a", 2), ("b", 1)):
            client.call("SourceService/CreateSource", source=source, options={"ttlSeconds": seconds})
        client.call("SourceService/CreateSource", source="c")
        client.put("a", [feature(n) for n in range(100)])
        daemon.control.arm(["sync"], 0, -1, 0, "sources/a/", wait=10 * 60 * 1000)
        until(lambda: daemon.control.failed, "nothing expires")
        client.put("b", [feature(n) for n in range(100)])
        until(lambda: not client.query("b"), "a source does not expire while another waits for its disk")
        check(len(client.query("a")) == 100, "features expired that are still on disk")
        daemon.control.wait = 0
        until(lambda: not client.query("a"), "a source does not expire when its disk answers again")
        client.call("SourceService/UpdateOptions", source="a", options={})
        daemon.control.arm(["rename"], 0, -1, 0, "sources/a/new-", wait=10 * 60 * 1000)

        def snapshots(source):
            return {name for name in os.listdir(f"{daemon.state}/sources/{source}") if name.endswith(".snapshot")}
        # Its snapshot waits. One is written once the journal has grown by a megabyte.
        large = [feature(n, text="x" * 30000) for n in range(50)]
        other = daemon.client()
        other.open("SourceService/UpdateFeatures", source="a", upsert=large)
        until(lambda: daemon.control.failed, "no snapshot is begun")
        before = snapshots("c")
        client.update("c", large)
        until(lambda: snapshots("c") != before, "no snapshot is written while another waits for its disk")
        check(daemon.end() == 0, "it does not end")
        daemon.control.wait = 0
    return "expiry, snapshots and the end"


def indexes():
    """An index that does not fit into memory is read from its snapshot: a full disk refuses what needs another one, and a
    page that cannot be read is an error of its source alone, which comes back."""
    points = 140_000

    def refused(statuses, body, text):
        try:
            body()
        except CallError as error:
            return check(error.status in statuses, f"{text}: {error}")
        raise Fault(f"{text}: it succeeds")

    with Daemon() as daemon:
        daemon.start()
        client = daemon.client()
        for source, count in (("a", points), ("b", 100)):
            client.call("SourceService/CreateSource", source=source)
            client.put(source, [feature(n) for n in range(count)])

        def describe():
            return daemon.client().call("SourceService/GetSource", source="a")

        def restart():
            daemon.kill()
            daemon.control.arm(["read"], before=1 << 30, path="sources/a/")
            daemon.start()
            check("indexFileBytes" in describe(), f"after a start it is {describe()}")
            # Until the snapshot has been compared in the background, which would find what a query is to find.
            before = -1
            while before != daemon.control.seen:
                before = daemon.control.seen
                time.sleep(0.3)

        # What a client sees from afar and of single points; the latter are read from pages of the snapshot.
        def seen():
            client = daemon.client()
            near = client.call("ClusterService/GetClusters", source="a", bbox=[-60, -40, 60, 40], zoom=24, limit=200000)
            return hashlib.sha256(json.dumps([client.query("a", 3), near["features"]], sort_keys=True).encode()).hexdigest()
        expected = seen()
        # Enough for all but the index.
        daemon.config["limits"] = {"memoryBytes": describe()["memoryBytes"] - (3 << 20)}
        restart()
        check(seen() == expected, "answers from a file differ")
        daemon.control.arm(["write"], 0, -1, errno.ENOSPC, "sources/a")
        refused(["RESOURCE_EXHAUSTED"], lambda: daemon.client().call(
            "SourceService/UpdateOptions", source="a", options={"radius": 50}), "a full disk")
        check(seen() == expected, "a full disk changed something")
        daemon.control.disarm()
        restart()
        daemon.control.arm(["read"], 0, -1, errno.EIO, "sources/a/")
        refused(["DATA_LOSS", "UNAVAILABLE"], seen, "a page that cannot be read")
        check(daemon.control.failed > 0, "no read failed")
        check(len(daemon.client().query("b")) == 100, "another source noticed")
        daemon.control.disarm()
        end = time.monotonic() + PATIENCE
        while True:
            try:
                check(seen() == expected, "it came back with other data")
                break
            except CallError as error:
                check(error.status in ["DATA_LOSS", "UNAVAILABLE"] and time.monotonic() < end, f"it does not come back: {error}")
        daemon.client().update("a", [feature(points)])
        restart()
        check(describe()["points"] == points + 1, "a change was lost")
    return "a full disk, a lost page, and the same answers"


SCENARIOS = [calls, successor, undone, starts, power, recovered, damage, gaps, sectors, slow, hanging, background, indexes]

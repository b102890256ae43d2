# SPDX-License-Identifier: MIT
"""Clients that take more than their part, and a machine that does what machines do: signals, clocks, full logs."""
import gzip, json, os, resource, shutil, signal, socket, struct, subprocess, threading, time, zlib
from harness import (NOBODY, PATIENCE, WORLD, CallError, Client, Daemon, Fault, Place, as_nobody, check, feature,
                     served)

# What the limits of queued answers and of unfinished messages add up to, and what else the daemon needs, in MiB.
MOST_MEMORY = 64 + 256 + 100


def filled(daemon, count=20000, size=100):
    daemon.start()
    client = daemon.client()
    client.call("SourceService/CreateSource", source="s")
    for first in range(0, count, 5000):
        client.put("s", [feature(n, text="x" * size) for n in range(first, min(first + 5000, count))], "append")
    return client


def frame(text, compressed=False):
    if compressed:
        text = zlib.compress(text, 9)
    return struct.pack(">BI", compressed, len(text)) + text


def connect(path):
    other = socket.socket(socket.AF_UNIX)
    other.connect(path)
    return other


def query_of_all(limit):
    """The message of a query whose answer is large."""
    return frame(json.dumps({"id": 1, "method": "clusterd.v1.ClusterService/GetClusters",
                             "params": {"source": "s", "bbox": WORLD, "zoom": 24, "limit": limit}}).encode())


def hold(path, messages, say):
    """Sends each message over a connection of its own, which stays open and is never read."""
    held = []
    for message in messages:
        # The daemon may refuse further connections, and stop reading or close those that it has.
        try:
            held.append(connect(path))
            held[-1].settimeout(10)
            held[-1].sendall(message)
        except OSError as error:
            if not held:
                raise error
    say("sent")
    time.sleep(1000)


def honest(daemon, patience=PATIENCE):
    """What a client that reads what it asked for gets, whatever others do."""
    client = daemon.client(patience)
    try:
        check(client.call("ServerService/Check") == {"status": "SERVING"}, "Check")
        check(len(client.query("s", limit=10)) == 10, "a small answer")
        check(len(client.query("s", limit=3000)) == 3000, "a large answer")
        client.open("ClusterService/WatchClusters", source="s", bbox=WORLD, zoom=3)
        check(client.receive()["item"]["add"], "a watch")
        client.close()
        client = daemon.client(patience)
        name = f"h{time.monotonic_ns()}"
        client.call("SourceService/CreateSource", source=name)
        check(client.put(name, [feature(n, text="y" * 200) for n in range(2000)])["points"] == 2000, "an import")
        client.call("SourceService/DeleteSource", source=name)
    except (CallError, OSError, EOFError) as error:
        raise Fault(f"an honest client got {error!r}")
    finally:
        client.close()


def memory():
    """Messages that parse to far more than their size, answers that nobody reads, and calls that wait with large params."""
    def bomb(arrays):
        nested = b",".join([b"[" * 58 + b"]" * 58] * arrays)
        return frame(b'{"id":2,"method":"clusterd.v1.ServerService/Check","params":{"a":[' + nested + b"]}}", True)

    # Short names, each of which is a string of its own once it is read: four megabytes in each call.
    names = json.dumps(["%d" % name for name in range(60000)]).encode()
    waiting = (b'"method":"clusterd.v1.ClusterService/WatchClusters","params":{"source":"s","bbox":[0,0,1,1],"zoom":3,'
               b'"properties":' + names + b"}}")
    rise = {}
    # What takes memory counts as input from then on: without that nothing is tested.
    counted = {"calls": 64}

    # Messages with too many values, and with nearly as many as may be.
    attacks = {"bombs": [bomb(140000)] * 4 + [bomb(25000)] * 4, "unread": [query_of_all(10000)] * 200,
               "calls": [b"".join(frame(b'{"id":%d,' % (call + 1) + waiting) for call in range(40))] * 8}
    for what, messages in attacks.items():
        with Daemon(state=False) as daemon:
            filled(daemon, 20000, 500)
            before = daemon.resident()
            other = as_nobody(lambda say: hold(daemon.path, messages, say))
            other.line()
            honest(daemon)
            client, end = daemon.client(), time.monotonic() + 8
            # Until all is answered that will be.
            while what == "unread" and client.call("ServerService/GetStats")["calls"]["inFlight"] and time.monotonic() < end:
                time.sleep(0.1)
            held = 0
            while held < counted.get(what, 0):
                check(time.monotonic() < end, f"{what} hold only {held} MiB")
                held = client.call("ServerService/GetStats")["bytes"]["input"] >> 20
                time.sleep(0.05)
            check(daemon.is_alive(), f"{what} ended it")
            rise[what] = daemon.resident("VmHWM") - before
            other.end()
            check(rise[what] <= MOST_MEMORY, f"{what} took {rise[what]} MiB")
            honest(daemon)
            client, end = daemon.client(), time.monotonic() + PATIENCE
            # Messages of clients that have gone are still being read.
            while client.call("ServerService/GetStats")["bytes"]["input"] > 0 and time.monotonic() < end:
                time.sleep(0.1)
            check(client.call("ServerService/GetStats")["bytes"]["input"] == 0, f"{what} are still counted")
    return ", ".join(f"{what} {size} MiB" for what, size in rise.items())


def released():
    """What a large message took while it was read goes back to the system, though its connection and a call stay open."""
    with Daemon(state=False) as daemon:
        client = filled(daemon, 1000)
        client.open("ClusterService/WatchClusters", source="s", bbox=WORLD, zoom=3)
        client.receive()
        before = daemon.resident()
        text = json.dumps({"id": 9, "method": "clusterd.v1.ServerService/Check",
                           "params": {"a": [[[[n]]] for n in range(700000)]}}).encode()
        client.socket.sendall(frame(text))
        try:
            client.receive()
            raise Fault("an unknown param was accepted")
        except CallError as error:
            check(error.status in ("INVALID_ARGUMENT", "RESOURCE_EXHAUSTED"), f"it got {error}")
        peak, end = daemon.resident("VmHWM"), time.monotonic() + PATIENCE
        check(peak > before + 40, f"the message took only {peak - before} MiB")
        while daemon.resident() > before + 20:
            check(time.monotonic() < end, f"{daemon.resident() - before} MiB of {peak - before} are kept")
            time.sleep(0.05)
    return f"{peak - before} MiB"


def inflation():
    """A gzipped file holds six hundred times its size: its import is refused at the limit, not after it was inflated."""
    limit = 64
    with Daemon(state=False, config={"importDirectories": [Place.root], "limits": {"memoryBytes": limit << 20}}) as daemon:
        line = json.dumps(feature(1, text="x" * 100000)).encode() + b"\n"
        with gzip.open(Place.root + "/bomb.geojsonl.gz", "wb", 9) as file:
            for _ in range(60):
                file.write(line * 100)
        client = filled(daemon)
        client.call("SourceService/CreateSource", source="other")
        before = daemon.resident()
        try:
            client.call("SourceService/LoadFile", source="other", path="bomb.geojsonl.gz")
            raise Fault("it was taken in")
        except CallError as error:
            check(error.status == "RESOURCE_EXHAUSTED", f"it got {error}")
        rise = daemon.resident("VmHWM") - before
        check(rise <= limit + 100, f"it took {rise} MiB with a limit of {limit}")
        honest(daemon)
    return f"{rise} MiB with a limit of {limit}"


def room():
    """The address space has a limit: imports and filters that do not fit are refused, and the daemon goes on."""
    with Daemon(state=False, config={"importDirectories": [Place.root]}) as daemon:
        with open(Place.root + "/many.geojsonl", "w") as file:
            for number in range(5000):
                file.write('{"type":"Feature","id":%d,"geometry":{"type":"Point","coordinates":[%.3f,%.3f]},'
                           '"properties":{"n":%d,"t":"%s"}}\n' % (
                               number, number * 7919 % 359 - 179, number * 104729 % 169 - 84, number, "x" * 1500))
        daemon.address_space = 1 << 40
        daemon.start()
        client, loaded = daemon.client(), 0
        client.call("SourceService/CreateSource", source="first")
        client.call("SourceService/LoadFile", source="first", path="many.geojsonl")
        # Of so many that finding a filter's features takes megabytes: less is not looked at.
        client.call("SourceService/CreateSource", source="filtered")
        client.put("filtered", [feature(number) for number in range(100000)])
        # Of which a quarter is kept for calls.
        limit = (daemon.resident("VmSize") + 60 << 20) * 4 // 3
        resource.prlimit(daemon.process.pid, resource.RLIMIT_AS, (limit, limit))
        try:
            for number in range(40):
                client.call("SourceService/CreateSource", source=f"s{number}")
                client.call("SourceService/LoadFile", source=f"s{number}", path="many.geojsonl")
                loaded += 1
            raise Fault("nothing was refused")
        except CallError as error:
            check(error.status == "RESOURCE_EXHAUSTED", f"a load got {error}")
        except EOFError:
            raise Fault(f"it ended after {loaded} loads: {daemon.said()[-200:]}")
        check(loaded > 0, "nothing fits at all")
        refused = 0
        for number in range(20):
            try:
                client.query("filtered", zoom=0, filter=[">", ["get", "n"], number])
            except CallError as error:
                check(error.status == "RESOURCE_EXHAUSTED", f"a filter got {error}")
                refused += 1
        check(refused > 0, "no filter was refused")
        client.call("SourceService/DeleteSource", source="s0")
        client.call("SourceService/CreateSource", source="again")
        client.call("SourceService/LoadFile", source="again", path="many.geojsonl")
    return f"{loaded} loads fit, {refused} of 20 filters did not"


def filters():
    """Many new filters at once, with answers that nobody reads: what they hold stays within its limits, and another user's
    filter is answered once they have gone."""
    own = 32
    config = {"limits": {"filterCacheBytes": own << 20, "memoryBytes": 1 << 40}}
    with Daemon(state=False, config=config) as daemon:
        daemon.start()
        client = daemon.client()
        client.call("SourceService/CreateSource", source="s")
        client.put("s", [feature(number) for number in range(100000)])
        with open(daemon.folder + "/config") as file:
            config = json.load(file)
        # The sources leave as much as filters may keep.
        held = client.call("SourceService/GetSource", source="s")["memoryBytes"]
        config["limits"]["memoryBytes"] = held + (own << 20)
        with open(daemon.folder + "/config", "w") as file:
            json.dump(config, file)
        daemon.process.send_signal(signal.SIGHUP)
        end = time.monotonic() + PATIENCE
        while client.call("ServerService/GetServerInfo")["limits"]["memoryBytes"] == 1 << 40:
            check(time.monotonic() < end, "the limit is not taken over")
            time.sleep(0.05)
        before = daemon.resident("VmHWM")

        def attack(say):
            clients = [Client(daemon.path) for _ in range(12)]
            for number, client in enumerate(clients):
                client.open("SourceService/GetFeatures", source="s", filter=[">", ["get", "n"], number])
            # Of each answer only the beginning is read.
            refused = sum(b"RESOURCE_EXHAUSTED" in client.reader.read(60) for client in clients)
            say(refused)
            time.sleep(1000)
        other = as_nobody(attack)
        refused = other.line()[0]
        rise = daemon.resident("VmHWM") - before
        other.end()
        check(rise <= own + 24, f"it took {rise} MiB with a limit of {own}")
        check(0 < refused < 12, f"{refused} of 12 filters were refused")
        found = len(client.query("s", zoom=24, filter=[">", ["get", "n"], 75000]))
        check(found == 24999, f"{found} features pass")
    return f"{rise} MiB with a limit of {own}, {refused} of 12 filters were refused"


def starvation():
    """A user leaves messages unfinished and answers unread, and watches all that may be watched: others are served."""
    def unfinished(path, say):
        hold(path, [struct.pack(">BI", 0, 16 << 20) + b"{" + b" " * ((16 << 20) - 4096)] * 40, say)

    def unread(path, say):
        hold(path, [query_of_all((20000, 5000, 500)[number % 3]) for number in range(300)], say)

    def watches(path, say):
        held = []
        # In ever smaller steps, so that nothing is left of what all may watch.
        for limit in (20000, 2000, 100, 5):
            for _ in range(300):
                client = Client(path)
                client.open("ClusterService/WatchClusters", source="s", bbox=WORLD, zoom=24, limit=limit, properties=[])
                try:
                    client.receive()
                    held.append(client)
                except CallError:
                    break
        check(len(held) >= 5, f"only {len(held)} watches were opened")
        say("sent")
        time.sleep(1000)
    for name, body in (("unfinished messages", unfinished), ("unread answers", unread), ("watches", watches)):
        # Few features may be watched, so that it does not take long to watch them all. Clients that read nothing stay longer than
        # others wait.
        limits = {"maxWatchedFeatures": 200000, "stallSeconds": 600}
        with Daemon(state=False, config={"limits": limits}) as daemon:
            client = filled(daemon)
            other = as_nobody(lambda say: body(daemon.path, say))
            other.line()
            # Until the answers that wait have almost reached their limit. What is above it is closed again and again.
            end = time.monotonic() + 10
            while body is unread and time.monotonic() < end:
                if client.call("ServerService/GetStats")["bytes"]["queued"] > 56 << 20:
                    break
                time.sleep(0.01)
            try:
                for _ in range(3):
                    honest(daemon)
            except Fault as fault:
                raise Fault(f"{name}: {fault}")
            finally:
                other.end()
            honest(daemon)
    return "three ways"


def bomb(number):
    """A filter that searches each feature's text for three hundred words; another for each number."""
    searched = ["concat", ["get", "text"], ["get", "text"], ["get", "text"]]
    return ["any", *[["==", ["index-of", f"{number}-{word}", searched], 0] for word in range(300)]]


def bombs():
    """Filters that take very long: another user's new filter is answered meanwhile, and the work ends with the call."""
    with Daemon(state=False) as daemon:
        client = filled(daemon, 20000, 300)

        def attack(say):
            clients = []
            for number in range(4):
                clients.append(Client(daemon.path, 600))
                for call in range(40):
                    clients[-1].open("ClusterService/GetClusters", source="s", bbox=WORLD, zoom=3,
                                     filter=bomb(number * 100 + call))
            say("sent")
            time.sleep(1000)
        other = as_nobody(attack)
        other.line()
        try:
            for number in range(5):
                check(client.query("s", zoom=3, filter=[">", ["get", "n"], number]), "a new filter")
            honest(daemon)
        finally:
            other.end()
        # Nobody waits for the work any more: it stops.
        for timeout in (200, 1000):
            try:
                client.query("s", zoom=3, timeout=timeout, filter=bomb(-timeout))
                raise Fault("a bomb is answered before its deadline: it takes too few steps")
            except CallError as error:
                check(error.status in ("DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"), f"a bomb got {error}")
            before = daemon.processor_seconds()
            time.sleep(1)
            spent = daemon.processor_seconds() - before
            check(spent <= 0.3, f"{spent:.2f} s of CPU time after the deadline")
        last = daemon.client()
        last.open("ClusterService/GetClusters", source="s", bbox=WORLD, zoom=3, filter=bomb(7))
        check(daemon.end() == 0, "it does not end in order")
    return "deadlines, another user's filters and the end"


def ids():
    """Many features with one id do not hold up the loop, nor do filters that none of them passes."""
    with Daemon(state=False, config={"limits": {"loopThreads": 1}}) as daemon:
        client = filled(daemon, 2000)
        client.call("SourceService/CreateSource", source="same")
        many = 100000
        for first in range(0, many, 10000):
            client.put("same", [{**feature(n), "id": "x"} for n in range(first, first + 10000)], "append")
        locate = dict(source="same", featureId="x", zoom=3)
        none = ["==", ["get", "n"], -1]
        check(client.call("ClusterService/LocateFeature", **locate)["feature"], "it is not found")
        # The filter's view is made once; afterwards all features have to be looked at, and none is in the view.
        for number in range(2):
            try:
                client.call("ClusterService/LocateFeature", **locate, filter=none)
                raise Fault("what does not pass was found")
            except CallError as error:
                check(error.status == "NOT_FOUND", f"it got {error}")
        other, asked = daemon.client(), 60
        for number in range(asked):
            client.open("ClusterService/LocateFeature", **locate, filter=none)
        # This one is answered by the only loop: if that has looked at all features, many of those came before.
        check(other.call("ServerService/Check"), "Check")
        client.socket.setblocking(False)
        try:
            answered = client.socket.recv(1 << 20).count(b'"error"')
        except BlockingIOError:
            answered = 0
        check(answered < asked // 3, f"the loop looked at all features for {answered} calls before another's")
    return f"{many} features"


def restarts():
    """Restarts under socket activation while clients ask: each call is answered, and nothing acknowledged is lost."""
    with Daemon() as daemon:
        held = socket.socket(socket.AF_UNIX)
        held.bind(daemon.path)
        held.listen(512)
        os.makedirs(daemon.state)

        def start():
            command = f'exec 3<&{held.fileno()}; exec env LISTEN_FDS=1 LISTEN_PID=$$ {Place.program} --state-dir {daemon.state} --log-level warning'
            return subprocess.Popen(["/bin/bash", "-c", command], pass_fds=(held.fileno(),), stderr=subprocess.DEVNULL)
        process = start()
        client = Client(daemon.path)
        client.call("SourceService/CreateSource", source="s")
        client.put("s", [feature(n) for n in range(5000)])
        client.close()
        is_over, unanswered, kept, notices, lock = threading.Event(), [], set(), [], threading.Lock()

        def ask(worker):
            number, client = worker * 10**6 + 10**7, None
            while not is_over.is_set():
                client = client or Client(daemon.path)
                number += 1
                try:
                    if worker % 4 == 0:
                        client.update("s", [feature(number)])
                        with lock:
                            kept.add(number)
                    else:
                        client.query("s", zoom=3)
                    notices.extend(client.notices)
                    client.notices = []
                except CallError as error:
                    if error.status != "UNAVAILABLE":
                        unanswered.append(str(error))
                    client.close()
                    client = None
                except (EOFError, OSError, struct.error) as error:
                    client.drain()
                    notices.extend(client.notices)
                    # A notice says that calls sent later are not answered.
                    if not client.notices:
                        unanswered.append(repr(error))
                    client.close()
                    client = None
        workers = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
        for worker in workers:
            worker.start()
        statuses = set()
        for _ in range(10):
            # Not before this process serves: until then the shell may get the signal.
            client = Client(daemon.path)
            try:
                client.call("ServerService/Check")
            except CallError as error:
                check(error.status == "UNAVAILABLE", f"Check got {error}")
            client.close()
            time.sleep(0.3)
            process.terminate()
            statuses.add(process.wait(40))
            process = start()
        is_over.set()
        for worker in workers:
            worker.join()
        client = Client(daemon.path)
        lost = {n for n in kept} - {f["id"] for f in client.query("s")}
        process.terminate()
        statuses.add(process.wait(40))
        held.close()
        check(statuses == {0}, f"it ended with {statuses}")
        check(not unanswered, f"{len(unanswered)} calls without an answer: {unanswered[:3]}")
        check(not lost, f"{len(lost)} of {len(kept)} acknowledged updates are lost")
        check(all(n["id"] is None for n in notices), "a notice has an id")
    return f"10 restarts, {len(kept)} updates"


def signals():
    """Signals that mean nothing to it, and reloads by the hundred, do nothing."""
    with Daemon(state=False) as daemon:
        client = filled(daemon, 2000)
        names = ["SIGUSR1", "SIGUSR2", "SIGALRM", "SIGVTALRM", "SIGPROF", "SIGIO", "SIGPIPE", "SIGCHLD", "SIGWINCH", "SIGURG"]
        for number in [getattr(signal, name) for name in names] + list(range(signal.SIGRTMIN, signal.SIGRTMAX + 1)):
            daemon.process.send_signal(number)
            check(client.call("ServerService/Check"), "Check")
        for _ in range(300):
            daemon.process.send_signal(signal.SIGHUP)
        check(client.query("s", zoom=3), "a query")
        check(daemon.is_alive() and daemon.end() == 0, "it does not end in order")
    return f"{len(names) + signal.SIGRTMAX - signal.SIGRTMIN + 1} signals"


def log():
    """Its log is a pipe that nobody reads, a full device, or closed: nobody waits for it."""
    reader, writer = os.pipe()
    with open("/dev/full", "wb") as full:
        for name, target in (("a pipe that nobody reads", writer), ("a full device", full)):
            with Daemon(state=False) as daemon:
                daemon.start(stderr=target, arguments=["--log-level", "debug"])
                client = daemon.client()
                for _ in range(4000):
                    try:
                        client.call("ServerService/GetClusters")
                    except CallError:
                        pass
                    daemon.process.send_signal(signal.SIGHUP)
                try:
                    check(daemon.client().call("ServerService/Check"), name)
                    check(daemon.end() == 0, f"{name}: it does not end in order")
                except (TimeoutError, subprocess.TimeoutExpired):
                    raise Fault(f"{name}: it waits for its log")
    os.close(reader)
    os.close(writer)
    return "two logs"


def clock():
    """A clock that is a year ahead for one start does not delete what has a time to live."""
    with Daemon() as daemon:
        daemon.start()
        client = daemon.client()
        client.call("SourceService/CreateSource", source="a", options={"ttlSeconds": 3600})
        client.put("a", [feature(n) for n in range(50)])
        daemon.kill()
        for ahead in ("31536000", "-31536000", "0"):
            daemon.environment = {"FAULT_CLOCK": ahead}
            daemon.start()
            client = daemon.client()
            # Ages are looked at four times a second.
            end = time.monotonic() + 1
            while time.monotonic() < end:
                check(len(client.query("a")) == 50, f"with a clock that is {ahead} s ahead features are gone")
            daemon.kill()
    return "a year ahead and behind"


def directory():
    """Its directory is removed, moved or replaced: no change is acknowledged that would be lost."""
    def removed(daemon):
        shutil.rmtree(daemon.state)

    def source_removed(daemon):
        shutil.rmtree(daemon.state + "/sources/a")

    def replaced(daemon):
        shutil.copytree(daemon.state, daemon.folder + "/copy")
        os.rename(daemon.state, daemon.folder + "/old")
        os.rename(daemon.folder + "/copy", daemon.state)
    for harm in (removed, source_removed, replaced):
        with Daemon() as daemon:
            daemon.start()
            client = daemon.client()
            client.call("SourceService/CreateSource", source="a")
            client.put("a", [feature(n) for n in range(50)])
            harm(daemon)
            changes = [
                ("update", lambda: client.update("a", [feature(100)])),
                ("import", lambda: client.put("a", [feature(1)])),
                ("options", lambda: client.call("SourceService/UpdateOptions", source="a", options={"radius": 3}))]
            if harm is not source_removed:
                changes += [("creation", lambda: client.call("SourceService/CreateSource", source="b")),
                            ("deletion", lambda: client.call("SourceService/DeleteSource", source="a"))]
            for name, change in changes:
                try:
                    change()
                    raise Fault(f"{harm.__name__}: {name} was acknowledged")
                except CallError as error:
                    check(error.status == "FAILED_PRECONDITION", f"{harm.__name__}: {name} got {error}")
            check(len(client.query("a")) == 50, f"{harm.__name__}: it serves no longer")
    return "three ways"


SCENARIOS = [memory, released, inflation, room, filters, starvation, bombs, ids, restarts, signals, log, clock, directory]

# SPDX-License-Identifier: MIT
"""The two daemons of leaks.py, and who calls them."""
import base64, collections, hashlib, hmac, http.client, io, json, os, re, signal, socket, struct, subprocess, time

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

# What nothing that is hidden may show. Names, ids and values of hidden features have it.
MARK = "zebra"
PACKAGE = "clusterd.v1."
KEY = b"a secret of leaks.py of 32 or more bytes"
WORLD = [-180, -85, 180, 85]
# A user who is not an administrator, if this program may make processes of others.
OTHER = 65534


class Contract:
    """The contract's messages, from the daemon's own reflection."""

    def __init__(self, channel, bearer):
        ask = channel.stream_stream(
            "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", request_serializer=bytes, response_deserializer=bytes)
        name = PACKAGE + "ClusterService"
        request = bytes([0x22, len(name)]) + name.encode()
        answer = b"".join(ask(iter([request]), timeout=60, metadata=(("authorization", "Bearer " + bearer),)))
        pool = descriptor_pool.DescriptorPool()
        files = [descriptor_pb2.FileDescriptorProto.FromString(data) for data in fields_of(fields_of(answer)[4][0])[1]]
        left = {file.name: file for file in files}

        def add(file):
            for other in file.dependency:
                if other in left:
                    add(left.pop(other))
            pool.Add(file)
        while left:
            add(left.popitem()[1])
        self.DESCRIPTOR = pool.FindFileContainingSymbol(name)
        factory = message_factory.MessageFactory(pool)
        for name, found in self.DESCRIPTOR.message_types_by_name.items():
            setattr(self, name, factory.GetPrototype(found))


def fields_of(data):
    """The fields of a message without knowing its type: numbers or bytes, by number."""
    found, stream = collections.defaultdict(list), io.BytesIO(data)

    def varint():
        value = shift = 0
        while byte := stream.read(1):
            value |= (byte[0] & 127) << shift
            shift += 7
            if byte[0] < 128:
                return value
    while (tag := varint()) is not None:
        found[tag >> 3].append(varint() if tag & 7 == 0 else stream.read(varint()))
    return found


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def token(**claims):
    claims = {"exp": time.time() + 36000, "sub": "anna", **claims}
    text = encoded(b'{"alg":"HS256"}') + "." + encoded(json.dumps(claims).encode())
    return text + "." + encoded(hmac.new(KEY, text.encode(), hashlib.sha256).digest())


def frame(value):
    text = json.dumps(value).encode()
    return struct.pack(">BI", 0, len(text)) + text


def read_exactly(stream, count):
    data = b""
    while len(data) < count:
        piece = stream.recv(count - len(data))
        if not piece:
            raise EOFError("the connection has ended")
        data += piece
    return data


def read_frame(stream):
    return json.loads(read_exactly(stream, int.from_bytes(read_exactly(stream, 5)[1:], "big")))


class Daemon:
    """A daemon of its own, in a folder of its own."""

    def __init__(self, binary, folder, name):
        self.folder = os.path.join(folder, name)
        os.makedirs(self.folder + "/archives")
        os.chmod(self.folder, 0o755)
        open(self.folder + "/key", "wb").write(KEY)
        self.socket, self.log = self.folder + "/s", open(self.folder + "/log", "w")
        self.write([])
        self.process = subprocess.Popen(
            [binary, "--socket", self.socket, "--config", self.folder + "/clusterd.json"], stderr=self.log, stdout=self.log)
        end = time.monotonic() + 60
        # The line may be in the log before the socket listens.
        self.admin = socket.socket(socket.AF_UNIX)
        while not (found := re.search(r"http://127\.0\.0\.1:(\d+)", open(self.folder + "/log").read())) or self.admin.connect_ex(self.socket):
            if time.monotonic() > end or self.process.poll() is not None:
                raise AssertionError("the daemon does not start: " + open(self.folder + "/log").read())
            time.sleep(0.02)
        self.port = int(found[1])
        self.web, self.unix = None, None
        self.channel = grpc.insecure_channel(
            f"127.0.0.1:{self.port}", options=[("grpc.max_receive_message_length", 64 << 20)])

    def write(self, rules):
        json.dump({
            "socketMode": "0666", "exportDirectories": [self.folder + "/archives"],
            "http": {"listen": ["127.0.0.1:0"], "tokenRight": "manage", "accessLog": self.folder + "/access",
                     "tokens": [{"algorithm": "HS256", "keyFile": self.folder + "/key"}]},
            "limits": {"buildThreads": 1}, "log": {"audit": True}, "access": {"manage": {"users": [OTHER]}, "rules": rules},
        }, open(self.folder + "/clusterd.json", "w"))

    def call(self, method, items=None, **params):
        """A call by the administrator."""
        request = {"id": 1, "method": PACKAGE + method, "params": params}
        self.admin.sendall(frame(request) + b"".join(frame({"id": 1, "item": item}) for item in items or []))
        if items is not None:
            self.admin.sendall(frame({"id": 1, "end": True}))
        got = []
        while True:
            answer = read_frame(self.admin)
            assert "error" not in answer, answer
            if "item" in answer:
                got.append(answer["item"])
            else:
                return got if got else answer.get("result", [])

    def reload(self, rules):
        self.write(rules)
        before = self.call("ServerService/GetServerInfo")["lastReload"]
        os.kill(self.process.pid, signal.SIGHUP)
        end = time.monotonic() + 60
        while (now := self.call("ServerService/GetServerInfo")["lastReload"]) == before:
            assert time.monotonic() < end, "the configuration is not reloaded"
            time.sleep(0.005)
        assert now["ok"], (now, rules)

    def load(self, source, features, options):
        self.call("SourceService/CreateSource", source=source, options=options)
        self.replace(source, features)

    def replace(self, source, features):
        self.call("SourceService/ImportFeatures", items=[{"features": features}], source=source, allowEmpty=True)

    def features(self, source):
        pages = self.call("SourceService/GetFeatures", source=source)
        return [feature for page in pages for feature in page["features"]]

    def http(self, method, path, body=None, fields={}, unix=False):
        """A request, on a connection that stays."""
        for attempt in range(2):
            connection = self.unix if unix else self.web
            if connection is None:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
                if unix:
                    connection = Tunnel(self.socket)
                setattr(self, "unix" if unix else "web", connection)
            try:
                connection.request(method, path, body, fields)
                response = connection.getresponse()
                return response.status, {name.lower(): text for name, text in response.getheaders()}, response.read()
            except (http.client.RemoteDisconnected, ConnectionError, http.client.CannotSendRequest):
                connection.close()
                setattr(self, "unix" if unix else "web", None)
                if attempt:
                    raise

    def end(self):
        self.channel.close()
        self.process.terminate()
        assert self.process.wait(60) == 0, "the daemon has failed: " + open(self.folder + "/log").read()[-4000:]


class Tunnel(http.client.HTTPConnection):
    """HTTP over the protocol's socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


class Stranger:
    """A process of another user, who speaks frames to two daemons."""

    def __init__(self, paths):
        ours, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                ours.close()
                os.setgroups([])
                os.setgid(OTHER)
                os.setuid(OTHER)
                self.serve(theirs, paths)
            finally:
                os._exit(0)
        theirs.close()
        self.socket = ours

    def serve(self, pipe, paths):
        sockets = []
        for path in paths:
            sockets.append(socket.socket(socket.AF_UNIX))
            sockets[-1].connect(path)
        while True:
            try:
                asked = read_frame(pipe)
            except EOFError:
                return
            number, stream = 0, sockets[asked["daemon"]]
            for message in asked["messages"]:
                stream.sendall(frame(message))
            answers = []
            while True:
                answers.append(read_frame(stream))
                if "item" in answers[-1] and asked["items"] and len(answers) == asked["items"]:
                    stream.sendall(frame({"id": 1, "cancel": True}))
                if not {"result", "end", "error"}.isdisjoint(answers[-1]):
                    break
            pipe.sendall(frame(answers))

    def call(self, daemon, messages, items=0):
        self.socket.sendall(frame({"daemon": daemon, "messages": messages, "items": items}))
        return read_frame(self.socket)

    def end(self):
        self.socket.close()
        os.waitpid(self.pid, 0)

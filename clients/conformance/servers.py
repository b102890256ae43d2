#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Servers that follow the scripts of the conformance cases: python3 servers.py CASES.json FOLDER

Each case's server listens at FOLDER/NAME.sock. The file FOLDER/ready says that all listen. Ends with its parent.
"""
import json
import os
import socket
import struct
import sys
import threading
import time
import zlib


def frame(text, compressed=False):
    body = zlib.compress(text) if compressed else text
    return struct.pack(">BI", compressed, len(body)) + body


class Session:
    """One connection, and what has been read on it."""

    def __init__(self, connection):
        self.connection, self.stream, self.calls = connection, connection.makefile("rb"), []

    def run(self, script):
        for step in script:
            if "close" in step:
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            self.take(step)
        while self.stream.read(1 << 16):
            pass

    def take(self, step):
        if "expect" in step:
            for _ in range(step["expect"]):
                _, length = struct.unpack(">BI", self.stream.read(5))
                self.calls.append(json.loads(self.stream.read(length)))
        elif "echo" in step:
            for call in reversed(self.calls):
                self.connection.sendall(frame(json.dumps({"id": call["id"], "result": call["params"]}).encode()))
        else:
            data = self.data(step)
            for piece in ([data[i : i + 1] for i in range(len(data))] if step.get("bytewise") else [data]):
                self.connection.sendall(piece)

    def data(self, step):
        if "hex" in step:
            return bytes.fromhex(step["hex"])
        if "bomb" in step:
            return frame(b" " * step["bomb"], compressed=True)
        if "fill" in step:
            return frame(b'{"id":%d,"result":{"text":"%s"}}' % (self.calls[0]["id"], b"x" * step["fill"]))
        text = step["text"] if "text" in step else json.dumps(step["send"])
        for number, call in enumerate(self.calls, 1):
            text = text.replace(f'"${number}"', str(call["id"])).replace(f"${number}", str(call["id"]))
        return frame(text.encode("latin-1" if "text" in step else "utf-8"), step.get("compressed", False))


def follow(connection, script):
    with connection:
        try:
            Session(connection).run(script)
        except (OSError, struct.error):
            pass  # the client has closed


def listen(listener, script):
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=follow, args=(connection, script), daemon=True).start()


def main():
    cases, folder = sys.argv[1:3]
    with open(cases, encoding="utf-8") as file:
        servers = json.load(file)["servers"]
    for case in servers:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(os.path.join(folder, case["name"] + ".sock"))
        listener.listen(64)
        threading.Thread(target=listen, args=(listener, case["server"]), daemon=True).start()
    parent = os.getppid()
    open(os.path.join(folder, "ready"), "w", encoding="utf-8").close()
    while os.getppid() == parent:
        time.sleep(1)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the conformance cases: python3 conformance.py (sync | async) CASES.json DAEMON_SOCKET SERVERS_FOLDER"""
import asyncio
import json
import os
import sys

import clusterd

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "conformance"))
from agreement import compare, compare_error, outcome


class Blocking:
    """The steps by the blocking client."""

    def __init__(self, socket):
        self.client, self.stream = clusterd.Client(socket), None

    def run(self, step):
        if "call" in step:
            outcome(step, *self.call(**step["call"]))
        elif "together" in step:
            raise NotImplementedError("each call has a connection of its own")
        elif "open" in step:
            self.stream = self.open(**step["open"])
        elif "send" in step:
            self.stream.send(step["send"])
        elif "end" in step:
            self.stream.end()
        elif "cancel" in step:
            self.stream.cancel()
        elif "item" in step:
            compare(next(self.stream), step["item"])
        else:
            self.last(step)

    def call(self, method, params, items=None, timeoutMs=None):
        timeout = None if timeoutMs is None else timeoutMs / 1000
        try:
            if items is None:
                return self.client.call(method, params, timeout=timeout), None
            return self.client.send_all(method, params, items, timeout=timeout), None
        except clusterd.ClusterdError as error:
            return None, error

    def open(self, method, params, timeoutMs=None):
        return self.client.stream(method, params, timeout=None if timeoutMs is None else timeoutMs / 1000)

    def last(self, step):
        try:
            item = next(self.stream, None)
        except clusterd.ClusterdError as error:
            return compare_error(error, step["failed"])
        if item is not None or "failed" in step:
            raise AssertionError(f"the stream went on with {item}")
        compare(self.stream.result, step["finished"])

    def close(self):
        if self.stream is not None:
            self.stream.close()
        self.client.close()


class Asynchronous:
    """The steps by the client for asyncio."""

    def __init__(self, socket):
        self.client, self.stream = clusterd.AsyncClient(socket, pool_size=1), None

    async def run(self, step):
        if "call" in step:
            outcome(step, *await self.call(**step["call"]))
        elif "together" in step:
            answers = await asyncio.gather(*(self.call(**call["call"]) for call in step["together"]))
            for call, answer in zip(step["together"], answers):
                outcome(call, *answer)
        elif "open" in step:
            self.stream = await self.open(**step["open"])
        elif "send" in step:
            await self.stream.send(step["send"])
        elif "end" in step:
            await self.stream.end()
        elif "cancel" in step:
            await self.stream.cancel()
        elif "item" in step:
            compare(await self.stream.__anext__(), step["item"])
        else:
            await self.last(step)

    async def call(self, method, params, items=None, timeoutMs=None):
        timeout = None if timeoutMs is None else timeoutMs / 1000
        try:
            if items is None:
                return await self.client.call(method, params, timeout=timeout), None
            return await self.client.send_all(method, params, items, timeout=timeout), None
        except clusterd.ClusterdError as error:
            return None, error

    async def open(self, method, params, timeoutMs=None):
        return await self.client.stream(method, params, timeout=None if timeoutMs is None else timeoutMs / 1000)

    async def last(self, step):
        try:
            item = await self.stream.__anext__()
        except StopAsyncIteration:
            return compare(self.stream.result, step["finished"])
        except clusterd.ClusterdError as error:
            return compare_error(error, step["failed"])
        raise AssertionError(f"the stream went on with {item}")

    async def close(self):
        if self.stream is not None:
            await self.stream.close()
        await self.client.close()


def run_case(kind, case, socket):
    if kind == "sync":
        steps = Blocking(socket)
        try:
            for step in case["steps"]:
                steps.run(step)
        finally:
            steps.close()
    else:
        asyncio.run(run_asynchronous(case, socket))


async def run_asynchronous(case, socket):
    steps = Asynchronous(socket)
    try:
        for step in case["steps"]:
            await steps.run(step)
    finally:
        await steps.close()


def main():
    kind, path, daemon, folder = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        cases = json.load(file)
    for case in cases["daemon"] + cases["servers"]:
        socket = os.path.join(folder, case["name"] + ".sock") if "server" in case else daemon
        try:
            run_case(kind, case, socket)
            print("ok", case["name"])
        except NotImplementedError as reason:
            print(f"skip {case['name']}: {reason}")
        except Exception as error:  # a case that fails in any way is reported, and the others go on
            print(f"not ok {case['name']}: {error!r}")


main()

# SPDX-License-Identifier: MIT
import asyncio
import json
import os
import pickle
import random
import socket
import tempfile
import unittest
import zlib

import clusterd
from clusterd import _address, _frames


class UnsentCallTests(unittest.TestCase):
    """Calls whose params are not JSON leave nothing behind."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "s")
        self.listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(self.listener.close)
        self.listener.bind(self.path)
        self.listener.listen(8)

    def expect_closed(self):
        with self.listener.accept()[0] as accepted:
            self.assertEqual(accepted.recv(1), b"")

    def test_of_the_blocking_client(self):
        with clusterd.Client(self.path) as client:
            for _ in range(3):
                with self.assertRaises(ValueError):
                    client.call("ServerService/Check", {"a": float("nan")})
                self.expect_closed()
            self.assertEqual(client._pool._used, [])

    def test_of_the_asynchronous_client(self):
        async def run():
            async with clusterd.AsyncClient(self.path, pool_size=1) as client:
                with self.assertRaises(ValueError):
                    await client.call("ServerService/Check", {"a": float("nan")})
                self.assertEqual(len(client._links[0]._table), 0)
                with self.assertRaises(ValueError):
                    await client.stream("SourceService/GetFeatures", {"a": float("nan")})
            for _ in range(2):
                self.expect_closed()

        asyncio.run(run())


class FrameTests(unittest.TestCase):
    def test_frames_come_whole_however_they_are_cut(self):
        messages = [{"id": n, "result": {"text": "é" * n * 7}} for n in range(1, 30)]
        stream = b"".join(_frames.frame(_frames.to_json(message)) for message in messages)
        generator = random.Random(1)
        for _ in range(50):
            reader, found, at = _frames.FrameReader(), [], 0
            while at < len(stream):
                size = generator.choice([1, 2, 5, 6, 100, len(stream)])
                reader.feed(stream[at : at + size])
                at += size
                while (message := reader.next()) is not None:
                    found.append(message)
            self.assertEqual(found, messages)

    def test_a_compressed_frame_must_end_with_its_stream(self):
        body = zlib.compress(b'{"id":1,"result":{}}')
        for data in (body[:-1], body + b"x"):
            reader = _frames.FrameReader()
            reader.feed(b"\1" + len(data).to_bytes(4, "big") + data)
            with self.assertRaises(clusterd.ClusterdError) as caught:
                reader.next()
            self.assertEqual(caught.exception.status, "INTERNAL")

    def test_an_opening_names_version_and_deadline(self):
        text = _frames.opening(7, "ServerService/Check", {"a": "ü"}, 0.5)[5:]
        expected = {"id": 7, "method": "clusterd.v1.ServerService/Check", "params": {"a": "ü"}, "timeoutMs": 500}
        self.assertEqual(json.loads(text), expected)

    def test_a_number_that_is_not_finite_is_refused_before_it_is_sent(self):
        with self.assertRaises(ValueError):
            _frames.to_json({"x": float("nan")})


class CallTableTests(unittest.TestCase):
    def test_answers_are_matched_by_id_in_any_order(self):
        table = _frames.CallTable()
        ids = [table.begin(streams=False) for _ in range(3)]
        for call in reversed(ids):
            self.assertEqual(table.receive({"id": call, "result": call * 2}), (call, ("result", call * 2)))
        self.assertEqual(len(table), 0)

    def test_what_comes_for_a_cancelled_call_is_ignored_until_it_ends(self):
        table = _frames.CallTable()
        call = table.begin(streams=True)
        self.assertTrue(table.drop(call))
        self.assertFalse(table.drop(call))
        self.assertIsNone(table.receive({"id": call, "item": {}}))
        self.assertIsNone(table.receive({"id": call, "error": {"code": 1, "message": ""}}))
        with self.assertRaises(clusterd.ClusterdError):
            table.receive({"id": call, "end": {}})


class AddressTests(unittest.TestCase):
    def test_a_named_socket_is_the_only_one(self):
        self.assertEqual(_address.candidates("/a", {"CLUSTERD_SOCKET": "/b"}), ["/a"])
        self.assertEqual(_address.candidates(None, {"CLUSTERD_SOCKET": "/b", "XDG_RUNTIME_DIR": "/r"}), ["/b"])

    def test_the_session_comes_before_the_system(self):
        self.assertEqual(
            _address.candidates("", {"CLUSTERD_SOCKET": "", "XDG_RUNTIME_DIR": "/r"}),
            ["/r/clusterd.sock", "/run/clusterd/clusterd.sock"],
        )
        self.assertEqual(_address.candidates(None, {}), ["/run/clusterd/clusterd.sock"])


class ErrorTests(unittest.TestCase):
    def test_errors_are_also_of_python_s_kinds(self):
        kinds = {3: ValueError, 4: TimeoutError, 5: LookupError, 7: PermissionError, 14: ConnectionError, 13: Exception}
        for code, kind in kinds.items():
            error = clusterd._errors.error_from_wire({"code": code, "message": "m", "details": {"a": 1}})
            self.assertIsInstance(error, kind)
            self.assertEqual((error.code, str(error).split(": ")[1]), (code, "m"))
            again = pickle.loads(pickle.dumps(error))
            self.assertEqual((type(again), again.status, again.details), (type(error), error.status, {"a": 1}))

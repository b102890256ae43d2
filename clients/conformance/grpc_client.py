#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs the daemon's cases over gRPC: grpc_client.py (messages | geojson) CASES.json DAEMON_SOCKET SERVERS_FOLDER

Imports send their features as messages, or as GeoJSON. Needs grpcio, protobuf and protoc. The scripts of the cases with
servers speak frames, so they are not run.
"""
import concurrent.futures
import json
import os
import queue
import subprocess
import sys
import tempfile

import grpc
from google.protobuf.descriptor_pb2 import MethodDescriptorProto, ServiceDescriptorProto

from agreement import compare, compare_error, outcome
from grpc_messages import Unsayable, answer, fill

PACKAGE = "clusterd.v1."
# A call without a deadline would wait forever for a daemon that does not answer.
LONGEST_WAIT = 60

# The part of google.rpc that errors have.
# Source: https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto
ERRORS = """
syntax = "proto3";
package google.rpc;
import "google/protobuf/any.proto";
message Status { int32 code = 1; string message = 2; repeated google.protobuf.Any details = 3; }
message ErrorInfo { string reason = 1; string domain = 2; map<string, string> metadata = 3; }
message BadRequest {
  message FieldViolation { string field = 1; string description = 2; }
  repeated FieldViolation field_violations = 1;
}
"""


def compile_contract(folder):
    """Makes the modules of the contract's messages, and returns them with those of errors."""
    contract = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "proto")
    with open(os.path.join(folder, "errors.proto"), "w", encoding="utf-8") as file:
        file.write(ERRORS)
    subprocess.run(
        ["protoc", "-I", contract, "-I", folder, "--python_out", folder, "clusterd/v1/clusterd.proto", "errors.proto"],
        check=True)
    sys.path.insert(0, folder)
    import errors_pb2
    from clusterd.v1 import clusterd_pb2
    return clusterd_pb2, errors_pb2


class Failure(Exception):
    """An error as the JSON contract has it: its status' name, its message and its details."""

    def __init__(self, error, messages):
        self.status, self.message, self.details = error.code().name, error.details() or "", {}
        super().__init__(f"{self.status}: {self.message}")
        sent = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin")
        if sent is None:
            return
        status = messages.Status.FromString(sent)
        if (status.code, status.message) != (error.code().value[0], self.message):
            raise AssertionError(f"the details are of another error: {status}")
        for detail in status.details:
            kind = detail.type_url.removeprefix("type.googleapis.com/google.rpc.")
            self.take(getattr(messages, kind).FromString(detail.value))

    def take(self, detail):
        if detail.DESCRIPTOR.name == "ErrorInfo":
            if (detail.reason, detail.domain) != (self.status, PACKAGE.rstrip(".")):
                raise AssertionError(f"the error's information is {detail}")
            self.details.update({name: value(text) for name, text in detail.metadata.items()})
            return
        fields = [violation.field for violation in detail.field_violations]
        if fields == [self.details.get("param")]:
            return
        root = self.details.get("param", "params.expression")
        self.details["errors"] = [
            {"key": violation.field.removeprefix(root), "message": violation.description}
            for violation in detail.field_violations]


def value(text):
    """A number if the text is one: details have numbers as text."""
    try:
        return json.loads(text, parse_constant=str)
    except ValueError:
        return text


class Connection:
    """The contract's methods on one channel."""

    def __init__(self, socket, contract, errors):
        self.contract, self.errors = contract, errors
        self.channel = grpc.insecure_channel(f"unix:{socket}")

    def method(self, name):
        """A method's request, and what calls it with an iterator or a message."""
        service, method = name.removeprefix(PACKAGE).split("/")
        # A method that does not exist is rejected before its message is read.
        unknown = MethodDescriptorProto(input_type="CheckRequest", output_type="CheckResponse")
        declared = declarations(self.contract.DESCRIPTOR.services_by_name[service]).get(method, unknown)
        kind = "_".join(
            "stream" if streams else "unary" for streams in (declared.client_streaming, declared.server_streaming))
        request, response = (
            getattr(self.contract, each.rsplit(".", 1)[-1]) for each in (declared.input_type, declared.output_type))
        return request, getattr(self.channel, kind)(
            f"/{PACKAGE}{service}/{method}", request_serializer=request.SerializeToString,
            response_deserializer=response.FromString)

    def failure(self, error):
        return Failure(error, self.errors)


def declarations(service):
    """The methods of a service by name, with what streams."""
    declared = ServiceDescriptorProto()
    service.CopyToProto(declared)
    return {method.name: method for method in declared.method}


class Steps:
    """The steps of a case."""

    def __init__(self, connection, as_geojson):
        self.connection, self.as_geojson = connection, as_geojson
        self.stream = self.sent = None
        self.transitions = False

    def run(self, step):
        if "call" in step:
            outcome(step, *self.call(**step["call"]))
        elif "together" in step:
            with concurrent.futures.ThreadPoolExecutor(len(step["together"])) as threads:
                answers = list(threads.map(lambda each: self.call(**each["call"]), step["together"]))
            for each, answered in zip(step["together"], answers):
                outcome(each, *answered)
        elif "open" in step:
            self.open(**step["open"])
        elif "send" in step:
            message = self.connection.contract.WatchClustersRequest()
            fill(message.viewport, step["send"])
            self.sent.put(message)
        elif "end" in step:
            self.sent.put(None)
        elif "cancel" in step:
            self.stream.cancel()
        elif "item" in step:
            compare(answer(next(self.stream), self.transitions), step["item"])
        else:
            self.last(step)

    def call(self, method, params, items=None, timeoutMs=None):
        request, call = self.connection.method(method)
        message = request()
        if items is None:
            fill(message, params)
        else:
            fill(message.open, params)
            message = iter([message] + [self.item(item) for item in items])
        try:
            return answer(call(message, timeout=seconds(timeoutMs))), None
        except grpc.RpcError as error:
            return None, self.connection.failure(error)

    def item(self, item):
        """A message of an import."""
        message = self.connection.contract.ImportFeaturesRequest()
        if self.as_geojson:
            message.geojson = json.dumps(item["features"]).encode()
        else:
            fill(message.features, item)
        return message

    def open(self, method, params, timeoutMs=None):
        request, call = self.connection.method(method)
        message = request()
        fill(message.open, params)
        self.transitions = params.get("transitions", False)
        self.sent = queue.SimpleQueue()
        self.sent.put(message)
        self.stream = call(iter(self.sent.get, None), timeout=seconds(timeoutMs))

    def last(self, step):
        try:
            item = next(self.stream, None)
        except grpc.RpcError as error:
            return compare_error(self.connection.failure(error), step["failed"])
        if item is not None or "failed" in step:
            raise AssertionError(f"the stream went on with {item}")
        # A watch ends with nothing but its status.
        compare({}, step["finished"])

    def close(self):
        if self.stream is not None:
            self.stream.cancel()
            self.sent.put(None)


def seconds(milliseconds):
    return LONGEST_WAIT if milliseconds is None else milliseconds / 1000


def run_case(case, connection, as_geojson):
    steps = Steps(connection, as_geojson)
    try:
        for step in case["steps"]:
            steps.run(step)
    finally:
        steps.close()


def main():
    form, path, socket, _ = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        cases = json.load(file)["daemon"]
    with tempfile.TemporaryDirectory() as folder:
        connection = Connection(socket, *compile_contract(folder))
    for case in cases:
        try:
            run_case(case, connection, as_geojson=form == "geojson")
            print("ok", case["name"])
        except Unsayable as reason:
            print(f"skip {case['name']}: {reason}")
        except Exception as error:  # a case that fails in any way is reported, and the others go on
            print(f"not ok {case['name']}: {error!r}")


main()

# SPDX-License-Identifier: MIT
"""The errors of calls: gRPC's statuses as exceptions."""
from __future__ import annotations

import enum
from typing import Any, Dict, Mapping, Optional, Type


class Status(enum.IntEnum):
    """gRPC's status codes."""

    OK = 0
    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15
    UNAUTHENTICATED = 16


class ClusterdError(Exception):
    """A call has failed.

    `status` is the name of gRPC's status, such as "NOT_FOUND", and `code` its number; `message` says what was wrong and
    what to do; `details` has more for programs.
    """

    def __init__(self, status: Status, message: str, details: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(message)
        self.code = int(status)
        self.status = status.name
        self.message = message
        self.details: Dict[str, Any] = dict(details or {})

    def __str__(self) -> str:
        return f"{self.status}: {self.message}"

    def __reduce__(self) -> Any:
        return (type(self), (Status(self.code), self.message, self.details))


class InvalidArgumentError(ClusterdError, ValueError):
    """A param, a feature or an expression is invalid."""


class NotFoundError(ClusterdError, LookupError):
    """There is no such source, cluster, feature or file."""


class AlreadyExistsError(ClusterdError):
    """There is already a source of this name."""


class PermissionDeniedError(ClusterdError, PermissionError):
    """The caller lacks the right."""


class DeadlineExceededError(ClusterdError, TimeoutError):
    """The answer did not come within the timeout."""


class UnavailableError(ClusterdError, ConnectionError):
    """No daemon answers, or the connection was lost, or the daemon is shutting down."""


class AbortedError(ClusterdError):
    """The source is at another revision than the call asked for."""


_CLASSES: Dict[Status, Type[ClusterdError]] = {
    Status.INVALID_ARGUMENT: InvalidArgumentError,
    Status.NOT_FOUND: NotFoundError,
    Status.ALREADY_EXISTS: AlreadyExistsError,
    Status.PERMISSION_DENIED: PermissionDeniedError,
    Status.DEADLINE_EXCEEDED: DeadlineExceededError,
    Status.UNAVAILABLE: UnavailableError,
    Status.ABORTED: AbortedError,
}


def make_error(
    status: Status, message: str, details: Optional[Mapping[str, Any]] = None
) -> ClusterdError:
    """The exception for a status."""
    return _CLASSES.get(status, ClusterdError)(status, message, details)


def error_from_wire(value: Any) -> ClusterdError:
    """The exception for the object under an envelope's `error`; a code that is not gRPC's is UNKNOWN."""
    if not isinstance(value, dict):
        return make_error(Status.UNKNOWN, "the daemon's error cannot be read")
    code, message, details = value.get("code"), value.get("message"), value.get("details")
    return make_error(
        Status(code) if type(code) is int and 0 < code <= 16 else Status.UNKNOWN,
        message if isinstance(message, str) else "",
        details if isinstance(details, dict) else None,
    )


def deadline_error() -> ClusterdError:
    return make_error(Status.DEADLINE_EXCEEDED, "the daemon did not answer within the timeout")


def lost_error(reason: str) -> ClusterdError:
    return make_error(Status.UNAVAILABLE, f"the connection to the daemon was lost: {reason}")


def protocol_error(problem: str) -> ClusterdError:
    return make_error(Status.INTERNAL, f"the daemon's answer breaks the protocol: {problem}")

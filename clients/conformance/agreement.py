# SPDX-License-Identifier: MIT
"""Whether what a client got is what a conformance case says. Errors have `status`, `message` and `details`."""
import json


def agrees(value, pattern):
    if pattern == "…":
        return True
    if isinstance(pattern, dict):
        return isinstance(value, dict) and all(k in value and agrees(value[k], p) for k, p in pattern.items())
    if isinstance(pattern, list):
        return isinstance(value, list) and len(value) == len(pattern) and all(map(agrees, value, pattern))
    if isinstance(pattern, (int, float)) and not isinstance(pattern, bool):
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return is_number and abs(value - pattern) <= 1e-9 * max(1, abs(pattern))
    return type(value) is type(pattern) and value == pattern


def compare(value, pattern):
    if not agrees(value, pattern):
        raise AssertionError(f"{json.dumps(value)[:400]} is not {json.dumps(pattern)}")


def compare_error(error, pattern):
    told = {"status": error.status, "details": error.details}
    compare(told, {name: part for name, part in pattern.items() if name != "message"})
    if pattern.get("message", "") not in error.message:
        raise AssertionError(f"the message is {error.message!r}")


def outcome(step, answer, error):
    if "error" in step:
        if error is None:
            raise AssertionError(f"answered {json.dumps(answer)[:400]}")
        compare_error(error, step["error"])
    elif error is not None:
        raise error
    else:
        compare(answer, step["result"])

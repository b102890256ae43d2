# SPDX-License-Identifier: MIT
"""The whole build: clusterctl says which steps are next, and Spark runs them."""
from __future__ import annotations

import glob
import json
import logging
import os
import re
import subprocess
import tempfile
import time
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from . import _program, _steps

log = logging.getLogger("clusterd_spark")


class BuildError(Exception):
    """Why an image could not be built. The temporary files stay, so `resume=True` goes on with what is complete."""


def build(
    spark: Any, inputs: Union[str, os.PathLike, Iterable[Union[str, os.PathLike]]], output: Union[str, os.PathLike],
    options: Mapping[str, Any], shards: Optional[int] = None, archive: Union[str, os.PathLike, None] = None, resume: bool = False, *,
    overwrite: bool = False, name: Optional[str] = None, memory: str = "1G", temporary: Union[str, os.PathLike, None] = None,
    on_invalid: str = "reject", arguments: Sequence[str] = (),
) -> Dict[str, Any]:
    """Builds the image of a source, exactly as `clusterctl build` does, with its steps on Spark.

    All files lie on storage that driver and executors mount at the same path.

    :param spark: a SparkSession or SparkContext.
    :param inputs: files of features, folders of them, or patterns such as `part-*.parquet`, in the order of their import.
        The files of a folder or a pattern are in the order of their names.
    :param output: the image.
    :param options: the source's options, with `"clusterIds": "origin"` and a `"sortKey"`.
    :param shards: in how many parts a level is cut at least; by default four for each processor of the executors.
    :param archive: also write all tiles into this PMTiles archive, with the layer `name`.
    :param resume: go on where an earlier build of the same inputs was ended, if there is one.
    :param overwrite: replace an existing image or archive.
    :param memory: what each step may take, in bytes or as `512M`; 256 MiB come on top. It is not the JVM's, so it must fit
        into `spark.executor.memoryOverhead`, once for each processor.
    :param temporary: a folder for temporary files, by default the output's name with `.build`. It is removed at the end.
    :param on_invalid: `skip` leaves invalid features out and counts them.
    :param arguments: more arguments of `clusterctl build`, such as `["--longitude", "x"]`.
    :returns: what was built: `points`, `clusters`, `bytes`, for each group of zooms the `nodes`, `parts`, `copies`, `open`,
        `rounds`, `bytes` and `seconds`, and in `spark` the number of `jobs` and `steps`, the `seconds` that the jobs took and of these the `idle` ones,
        in which no step ran.
    :raises BuildError: if it fails.
    """
    context = getattr(spark, "sparkContext", spark)
    if not hasattr(context, "addArchive"):
        raise BuildError("a session of Spark Connect cannot ship programs: use a classic SparkSession")
    program = _program.find()
    if program is None:
        raise BuildError("clusterctl is missing: set $CLUSTERCTL to its path, install the package clusterd, or put it on PATH")
    jobs = _Jobs(context, program)
    words = [program, "build", _absolute(output), *_files(inputs), "--engine", "--options", json.dumps(options), "--memory", str(memory)]
    words += ["--shards", str(shards or 4 * context.defaultParallelism), "--on-invalid", on_invalid]
    for flag, value in (("--archive", archive), ("--temporary", temporary)):
        words += [] if value is None else [flag, _absolute(value)]
    words += [] if name is None else ["--name", name]
    words += (["--resume"] if resume else []) + (["--overwrite"] if overwrite else []) + list(arguments)
    summary = _plan(words, jobs)
    return {**summary, "spark": jobs.report()}


def _plan(words: List[str], jobs: "_Jobs") -> Dict[str, Any]:
    """Runs clusterctl, which lists steps on its standard output and waits on its standard input until they have ended."""
    summary = None
    with tempfile.TemporaryFile() as errors:
        planner = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
        assert planner.stdin and planner.stdout
        try:
            for line in planner.stdout:
                message = json.loads(line)
                if "summary" in message:
                    summary = message["summary"]
                    continue
                answer = jobs.run(message["title"], message["steps"])
                planner.stdin.write(json.dumps(answer).encode() + b"\n")
                planner.stdin.flush()
            planner.wait()
        except BrokenPipeError:
            planner.wait()
        finally:
            # Nobody would run its steps.
            if planner.poll() is None:
                planner.kill()
                planner.wait()
            planner.stdout.close()
            try:
                planner.stdin.close()
            except BrokenPipeError:
                pass
        errors.seek(0)
        said = errors.read().decode("utf-8", "replace").strip()
    if planner.returncode or summary is None:
        text = "; ".join(said.splitlines()[-3:]) or f"it ended with status {planner.returncode}"
        raise BuildError(text[len("clusterctl: "):] if text.startswith("clusterctl: ") else text)
    return summary


class _Jobs:
    """Runs lists of steps, each as one job of Spark."""

    def __init__(self, context: Any, program: str) -> None:
        self.context = context
        self.task = _steps.task(_program.ship(context, program), _program.MEMBER)
        self.jobs = self.steps = 0
        self.seconds = self.idle = 0.0

    def run(self, title: str, steps: List[Any]) -> Dict[str, Any]:
        """Runs steps; returns the answer for clusterctl."""
        # Several steps a task, and several tasks a processor, since not all steps take the same time.
        slices = min(len(steps), 4 * max(1, self.context.defaultParallelism))
        lines = [json.dumps(step) for step in steps]
        self.context.setJobDescription(f"clusterd: {len(steps)} × {title}")
        start = time.time()
        try:
            done = self.context.parallelize(lines, slices).mapPartitions(self.task).collect()
        except Exception as error:  # noqa: BLE001: whatever Spark raises is why the steps failed
            return {"error": _reason(error)}
        finally:
            end = time.time()
            self.context.setJobDescription(None)
        busy = _union([(first, last) for first, last, _ in done], start, end)
        self.jobs, self.steps = self.jobs + 1, self.steps + len(steps)
        self.seconds, self.idle = self.seconds + end - start, self.idle + end - start - busy
        log.info("%d × %s: %.1f s, %.1f s of them without a step", len(steps), title, end - start, end - start - busy)
        for _, _, refusal in done:
            if refusal:
                return {"status": _steps.REFUSED, "error": refusal}
        return {}

    def report(self) -> Dict[str, Any]:
        return {"jobs": self.jobs, "steps": self.steps, "seconds": round(self.seconds, 3), "idle": round(self.idle, 3)}


def _union(spans: List[Tuple[float, float]], start: float, end: float) -> float:
    """How long at least one of the spans was going on between two moments, in seconds."""
    total, reached = 0.0, start
    for first, last in sorted(spans):
        last = min(last, end)
        total += max(0.0, last - max(first, reached))
        reached = max(reached, last)
    return total


def _reason(error: BaseException) -> str:
    """Why a job failed, in a line: what the step said, else what Spark says."""
    text = str(error)
    said = re.findall(r"StepError: (?:clusterctl: )?(.*)", text)
    if said:
        return said[-1].strip()
    java = getattr(error, "java_exception", None)
    lines = (str(java.getMessage()) if java is not None else text).strip().splitlines()
    return f"Spark: {lines[0]}" if lines else f"Spark: {type(error).__name__}"


def _absolute(path: Union[str, os.PathLike]) -> str:
    """A path as all processes know it."""
    text = os.fspath(path)
    if text.startswith("file:"):
        text = "/" + text[len("file:"):].lstrip("/")
    if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]+:/", text):
        raise BuildError(f"{text} is an address: name a path on storage that driver and executors mount")
    return os.path.abspath(text)


def _files(inputs: Union[str, os.PathLike, Iterable[Union[str, os.PathLike]]]) -> List[str]:
    """The files that inputs name, in order."""
    files: List[str] = []
    for item in [inputs] if isinstance(inputs, (str, os.PathLike)) else inputs:
        path = _absolute(item)
        if os.path.isdir(path):
            # As Spark writes and reads folders of parts.
            found = [entry.path for entry in os.scandir(path) if entry.is_file() and entry.name[0] not in "._"]
        elif os.path.exists(path):
            found = [path]
        else:
            found = glob.glob(path, recursive=True)
        if not found:
            raise BuildError(f"{path} does not exist, or no file in it")
        files += sorted(found)
    if not files:
        raise BuildError("there are no inputs")
    return files

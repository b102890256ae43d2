#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What limits each step: processors, the system, memory or the disk.

    python3 Benchmarks/limits.py POINTS [--bin DIR] [--rounds N]

A daemon loads points without and with a state directory, clusters them again with another radius, answers a filter, and starts again
after kill -9 with the page cache dropped (if that is permitted). Of each step: how many processors were busy, the system's part of
their time, page faults, and what was read from and written to the disk; medians of the rounds. Beside them, in the same run: the
memory that one processor and all together copy, and what the disk reads, writes and syncs. The rows of this count in
Benchmarks/results.md are replaced. A machine that does nothing else.
"""
import argparse, mmap, os, shutil, statistics, tempfile, time

import results, scale
from measure import ROOT

TICK = os.sysconf("SC_CLK_TCK")
GIB = 2 ** 30


def use(process):
    """What a process has used since its start: seconds of its own and of the system for it, page faults, bytes of the disk."""
    with open(f"/proc/{process.pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    with open(f"/proc/{process.pid}/io") as file:
        disk = dict(line.split(": ") for line in file.read().splitlines())
    return [int(fields[11]) / TICK, int(fields[12]) / TICK, int(fields[7]) + int(fields[9]),
            int(disk["read_bytes"]), int(disk["write_bytes"])]


def used(process, work):
    """Seconds of a step, and what a process used in it."""
    before, taken = use(process), scale.seconds(work)
    return [taken, *(after - first for after, first in zip(use(process), before))]


def steps(binaries, folder, path, most_memory):
    """Names of steps, and what `used` says of each."""
    world, source = {**scale.SOURCE, "bbox": [-180, -85, 180, 85], "zoom": 2}, scale.SOURCE
    for state in (False, True):
        daemon = scale.Daemon(binaries, folder, most_memory, has_state=state)
        caller, process = daemon.caller, daemon.process
        try:
            caller.call("SourceService/CreateSource", source)
            yield f"load {'with' if state else 'without'} a state directory", used(process, lambda: (
                caller.call("SourceService/LoadFile", {**source, "path": path}), scale.view(caller, world)))
            if not state:
                yield "index built again with another radius", used(process, lambda: caller.call(
                    "SourceService/UpdateOptions", {**source, "options": {"radius": 50}}))
                yield "first answer of a filter that passes nine in ten", used(process, lambda: scale.view(
                    caller, {**world, "filter": scale.NINE_IN_TEN}))
        finally:
            daemon.stop(9)
    deep = next(params for params in scale.views(path, 400) if params["zoom"] == 14)
    cold = scale.drop_cache()
    daemon = scale.Daemon(binaries, folder, most_memory)
    scale.view(daemon.caller, deep)
    yield (f"start after kill -9{', the page cache dropped' if cold else ''}, to an answer at zoom 14",
           [time.monotonic() - daemon.begun, *use(daemon.process)])
    daemon.stop(9)
    shutil.rmtree(os.path.join(folder, "state"))


def described(taken):
    seconds, own, system, faults, read, written = taken
    busy = (own + system) / seconds
    return (f"{seconds:.2f} s; {busy:.1f} busy, {system / max(own + system, 1e-9):.0%} of it the system",
            f"{faults:,.0f} page faults; {read / GIB:.2f} GiB read, {written / GIB:.2f} GiB written")


def disk(folder, size=1 << 30):
    """Bytes a second that the disk takes until they are synced, and gives with the page cache dropped (nil without root), and the
    median seconds to append 200 bytes and sync them."""
    path = os.path.join(folder, "probe")
    block = os.urandom(1 << 24)
    with open(path, "wb", buffering=0) as file:
        def write():
            for _ in range(size // len(block)):
                file.write(block)
            os.fsync(file.fileno())
        written = size / scale.seconds(write)

        def append():
            file.write(block[:200])
            os.fdatasync(file.fileno())
        synced = statistics.median(scale.seconds(append) for _ in range(100))
    read = None
    if scale.drop_cache():
        with open(path, "rb", buffering=0) as file:
            room = mmap.mmap(-1, len(block))
            read = size / scale.seconds(lambda: [file.readinto(room) for _ in range(size // len(block))])
    os.remove(path)
    return written, read, synced


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("points", type=int)
    parser.add_argument("--bin", default=os.path.join(ROOT, ".build", "release"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most-memory", type=float, default=14, help="GiB")
    options = parser.parse_args()
    path = scale.generate(options.bin, options.points)
    folder = tempfile.mkdtemp(dir=os.path.dirname(path))
    mark, processors = f"| limits, {options.points:,} points: ", os.cpu_count()
    rows, taken = [], {}
    try:
        for _ in range(options.rounds):
            for name, found in steps(options.bin, folder, path, options.most_memory * GIB):
                taken.setdefault(name, []).append(found)
        for name, found in taken.items():
            value, beside = described([statistics.median(column) for column in zip(*found)])
            rows.append(f"{mark}{name}, {processors} processors | {value} | {beside} |  |")
        rows.append(f"{mark}memory copied by one processor; by {processors} | {scale.bandwidth(1) / GIB:.1f} GiB/s; {scale.bandwidth(processors) / GIB:.1f} GiB/s |  |  |")
        written, read, synced = disk(folder)
        rows.append(f"{mark}disk written and synced; read; 200 bytes synced | {written / GIB:.2f} GiB/s; "
                    f"{f'{read / GIB:.2f} GiB/s' if read else 'not measured'}; {synced * 1e3:.2f} ms |  |  |")
    finally:
        shutil.rmtree(folder)
    results.replace(mark, rows)


if __name__ == "__main__":
    main()

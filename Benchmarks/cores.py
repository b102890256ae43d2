#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How loading, building and answering get faster with processors.

    python3 Benchmarks/cores.py [--bin DIR] [--rounds N]

A daemon that may only use 1, 2 and 4 processors loads a million points without a state directory, in alternated rounds;
medians count. Then daemons on 1, 2 and 3 processors answer to clients on the fourth: tiles, whose clients use little of their
processor, and long listings, whose clients use all of it beside three processors. The rows in
Benchmarks/results.md are replaced, and Benchmarks/cores.svg is drawn. Beside each load, its page faults and the time that the
daemon spent in the system are printed.

Needs a machine that does nothing else. With fewer than four processors it measures loads with as many as there are and only
prints them: the rows and the chart of a machine with four stay.
"""
import argparse, json, os, resource, signal, statistics, subprocess, tempfile, time

import measure, plot, results
from cancel import Caller

MARK = "| cores, "
SOURCE = {"source": "points"}
# A reader of tiles needs a fifth of the processor time that the daemon needs for them, of long listings half.
ANSWERS = {"tiles": ("-c", "48", "-d", "4", "-m", "tile", "-z", "3-9"), "long answers": ("-c", "48", "-z", "5-8", "-n", "4000")}


COUNTS = [count for count in (1, 2, 4) if count <= len(os.sched_getaffinity(0))]


class Daemon:
    """A daemon that may only use some processors."""

    def __init__(self, binaries, folder, processors):
        self.socket = os.path.join(folder, "s")
        self.process = subprocess.Popen(
            [f"{binaries}/clusterd", "--socket", self.socket, "--import-dir", measure.CACHE, "--log-level", "error"],
            preexec_fn=lambda: os.sched_setaffinity(0, processors))
        self.caller = Caller(self.socket)

    def load(self, path):
        """Seconds from the file to the first answer, and of the build alone."""
        self.caller.call("SourceService/CreateSource", SOURCE)
        begun = time.monotonic()
        self.caller.call("SourceService/LoadFile", {**SOURCE, "path": path})
        self.caller.call("ClusterService/GetClusters", {**SOURCE, "bbox": [-180, -85, 180, 85], "zoom": 2})
        return time.monotonic() - begun, self.caller.call("SourceService/GetSource", SOURCE)["buildMs"] / 1000

    def usage(self):
        """The page faults so far, and the seconds that its threads have run in the system."""
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return int(fields[7]), int(fields[12]) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        os.remove(self.socket)


def loads(binaries, folder, path, rounds):
    """Medians of load and build in seconds, faults and system time, by number of processors."""
    taken = {count: [] for count in COUNTS}
    for _ in range(rounds):
        for count, times in taken.items():
            daemon = Daemon(binaries, folder, range(count))
            times.append((*daemon.load(path), *daemon.usage()))
            daemon.stop()
    return {count: [statistics.median(column) for column in zip(*times)] for count, times in taken.items()}


def show(kind, medians):
    """Prints what loads took on each number of processors, and how many times as fast they are as on one."""
    for count, (load, build, faults, system) in medians.items():
        print(f"{kind}, {count} of {os.cpu_count()} processors: file to first answer {load:.3f} s ({medians[1][0] / load:.2f}), "
              f"index built {build:.3f} s ({medians[1][1] / build:.2f}), {faults:,.0f} page faults, {system:.2f} s in the system", flush=True)


def rates(binaries, folder, path, rounds):
    """By kind, then number of processors: medians of answers a second, and of the clients' use of their processor, the fourth."""
    taken = {kind: {count: [] for count in (1, 2, 3)} for kind in ANSWERS}
    for _ in range(rounds):
        for count in (1, 2, 3):
            daemon = Daemon(binaries, folder, range(count))
            daemon.load(path)
            for kind, asked in ANSWERS.items():
                before, begun = processor_time(), time.monotonic()
                told = subprocess.run(
                    ["taskset", "-c", "3", f"{binaries}/clusterctl", "--socket", daemon.socket, "bench", "points", *asked, "-t", "3", "--json"],
                    check=True, capture_output=True, text=True).stdout
                busy = (processor_time() - before) / (time.monotonic() - begun)
                taken[kind][count].append((json.loads(told)["perSecond"], busy))
            daemon.stop()
    return {kind: {count: [statistics.median(column) for column in zip(*found)] for count, found in counts.items()}
            for kind, counts in taken.items()}


def processor_time():
    """Seconds of all programs that have ended, the clients among them; daemons end between two measurements."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default=measure.BIN)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    folder = tempfile.mkdtemp()
    if COUNTS[-1] < 4:
        for kind in ("gathered", "uniform"):
            show(kind, loads(options.bin, folder, measure.make(kind, 1_000_000)[1], options.rounds))
        print("Benchmarks/results.md and Benchmarks/cores.svg stay as they are: they need four processors.")
        os.rmdir(folder)
        return
    python, rows, series = measure.peer_python(), [], []
    for kind, colours in (("gathered", ("#06c", "#093")), ("uniform", ("#6bd", "#8c8"))):
        raw, path = measure.make(kind, 1_000_000)
        peer = float(subprocess.run([python, "-c", measure.PEER, raw], capture_output=True, text=True, check=True).stdout)
        medians = loads(options.bin, folder, path, options.rounds)
        show(kind, medians)
        for column, (what, colour) in enumerate(zip(("file to first answer", "index built"), colours)):
            one, two, four = (medians[count][column] for count in COUNTS)
            rows.append(results.row(f"cores, {what}, {kind}, 1,000,000 points: on 4; on 2", f"{four:.3f} s; {two:.3f} s", f"on 1 {one:.3f} s", one / four))
            series.append((f"{what}, {kind}", colour, [(1, one), (2, two), (4, four)]))
        series.append((f"supercluster in C++, {kind}", "#c33" if kind == "gathered" else "#e98", [(1, peer), (4, peer)]))
    for kind, found in rates(options.bin, folder, measure.make("gathered", 1_000_000)[1], 3).items():
        (one, _), (two, _), (three, busy) = (found[count] for count in (1, 2, 3))
        rows.append(results.row(f"cores, {kind} of a daemon on 3; on 2, clients on the fourth, {busy:.0%} busy beside 3",
                                f"{three:,.0f}/s; {two:,.0f}/s", f"on 1 {one:,.0f}/s", three / one))
    os.rmdir(folder)
    results.replace(MARK, rows)
    plot.chart(os.path.join(measure.ROOT, "Benchmarks", "cores.svg"), "A million points: seconds against processors (supercluster uses one)", series,
               [(1, "1"), (2, "2"), (4, "4")], plot.seconds(-1, 1))


if __name__ == "__main__":
    main()

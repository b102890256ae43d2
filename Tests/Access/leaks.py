# SPDX-License-Identifier: MIT
"""Looks for hidden features in what callers with a rule get: random calls of every method, by every transport.

One daemon has all features and random rules. Another has only the features that the rule shows. Whatever a caller asks,
both must answer the same, and nothing of the first one's answers may have the mark of hidden features. The methods and
their params are those that GetServerInfo lists: a param that nobody has taught this program how to make ends it.

Usage: leaks.py CLUSTERD [--calls N] [--seed N]
"""
import argparse, base64, collections, hashlib, hmac, http.client, io, json, os, queue, random, re, shutil, signal, socket, struct
import argparse, collections, json, os, random, shutil, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../clients/conformance"))
from grpc_messages import Unsayable
from leak_daemons import MARK, OTHER, PACKAGE, WORLD, Contract, Daemon, Stranger, token
from leak_doors import DOORS, answered, archive, difference
from leak_rounds import UNLISTED, Round, with_claims
from leak_watches import Watch, change


class Pair:
    """Two daemons, asked the same."""

    def __init__(self, binary, folder):
        self.whole, self.part = Daemon(binary, folder, "w"), Daemon(binary, folder, "p")
        self.contract = Contract(self.whole.channel, token())
        self.stranger = Stranger([self.whole.socket, self.part.socket]) if os.getuid() == 0 else None
        listed = self.whole.call("ServerService/GetServerInfo")["methods"]
        self.methods = listed + UNLISTED
        self.reading = [each for each in self.methods if each["right"] == "query" and "source" in each["params"]]
        self.counts = collections.Counter()

    def prepare(self, round):
        """Gives the daemons the round's data and rules."""
        for daemon in (self.whole, self.part):
            for source in daemon.call("SourceService/ListSources")["sources"]:
                daemon.call("SourceService/DeleteSource", source=source["source"])
        hidden = [round.all[0]] if round.all else []
        self.whole.load("vault", hidden, {})
        self.whole.load(f"hidden-{MARK}", hidden, {})
        self.whole.load("orders", round.all, round.options)
        self.part.load("orders", round.shown(round.all), round.options)
        self.align(round)
        for daemon in (self.whole, self.part):
            daemon.load("open", [], {})
        others = {"sources": ["vault", "hidden*"], "users": [4000000000]}
        least = {"minCount": round.least} if round.least else {}

        def rules(expression, plain):
            return [{"sources": ["orders*"], "tokens": True, "filter": expression, **least},
                    {"sources": ["orders*"], "users": [OTHER], "filter": plain, **least}, others]
        self.whole.reload(rules(round.rule, with_claims(round.rule, round.claims)))
        self.part.reload(rules(True, True))
        self.learn(round)

    def align(self, round):
        """Lets both sources be at the same revision, which columns have in their schema."""
        daemons = [(self.whole, round.all), (self.part, round.shown(round.all))]
        while True:
            revisions = [daemon.call("SourceService/GetSource", source="orders")["revision"] for daemon, _ in daemons]
            if revisions[0] == revisions[1]:
                return
            daemon, features = daemons[revisions[0] > revisions[1]]
            daemon.replace("orders", features)

    def learn(self, round):
        """Ids of clusters that the caller sees, and of those that it must not see."""
        found, round.seen = set(), []
        for daemon in (self.whole, self.part):
            for zoom in (0, 2, 5):
                answer = daemon.call("ClusterService/GetClusters", source="orders", bbox=WORLD, zoom=zoom)
                ids = [feature["id"] for feature in answer["features"] if feature["properties"].get("cluster")]
                if daemon is self.part:
                    round.seen += ids
                found.update(round.random.sample(ids, min(len(ids), 6)))
        round.clusters = sorted(found) + [1, 33, 10_000, -1]

    def ask(self, round):
        """One random call by a random transport, of both daemons."""
        random = round.random
        # What shows features is asked more often.
        declared = random.choice(self.methods if random.random() < 0.3 else self.reading)
        method = declared["name"].split("/")[1]
        params = round.params(method, declared["params"])
        doors = [door for door in DOORS if DOORS[door][0](self, declared, params)]
        door = random.choice(doors)
        what = f"{door} {method} {json.dumps(params)}"
        got = []
        for daemon in (self.whole, self.part):
            try:
                shown, raw = DOORS[door][1](self, round, daemon, declared, params)
            except Unsayable:
                return False
            got.append((shown, raw))
            path = daemon.folder + "/archives/a.pmtiles"
            if os.path.exists(path):
                shown, raw = archive(path)
                got[-1] = (got[-1][0] + shown if isinstance(got[-1][0], list) else [got[-1][0], shown], got[-1][1] + raw)
                served = daemon.http("GET", "/archives/a.pmtiles", fields={"Authorization": "Bearer " + round.bearer})
                assert served[0] == 200, (what, served[0])
                os.remove(path)
        (whole, raw), (part, _) = got
        self.counts[door] += 1
        kind = "answers" if answered(raw) else "errors"
        self.counts[kind] += 1
        self.counts[f"{kind} of {method}"] += 1
        asked = json.dumps(params)
        if MARK not in asked and MARK.encode() in raw:
            raise AssertionError(f"{what}: the answer has the mark of hidden features: {raw[:2000]}")
        if whole != part:
            raise AssertionError(f"{what}: with hidden features and without them, the answers differ at {difference(whole, part)}")
        return True

    def end(self):
        if self.stranger:
            self.stranger.end()
        for daemon in (self.whole, self.part):
            daemon.end()
            for log in ("log", "access"):
                # All tokens begin like this one.
                assert token()[:20] not in open(f"{daemon.folder}/{log}").read(), f"the {log} has a token"


def run_round(pair, round, calls):
    pair.prepare(round)
    watches, done = [], 0
    try:
        if round.least < 2:
            watches = [Watch(pair, round) for _ in range(2)]
        for part in range(3):
            revision = change(pair, round) if part else pair.whole.call("SourceService/GetSource", source="orders")["revision"]
            for watch in watches:
                watch.follow(revision)
                watch.check(pair)
                pair.counts["checks of watches"] += 1
            if part:
                # Clusters that updates have changed have ids of another form. The other daemon's are new, so if this one shows
                # those of all features, they are made again.
                if "views" in round.options or len(round.shown(round.all)) == len(round.all):
                    pair.whole.replace("orders", round.all)
                pair.align(round)
                pair.learn(round)
            # Which door a token takes, and whether it is in the URL, is the same for both daemons.
            for _ in range(calls // 3):
                round.bearer_in_url = round.random.random() < 0.2
                done += pair.ask(round)
    except AssertionError as failure:
        raise AssertionError(f"{failure}\n  rule {json.dumps(round.rule)}, minCount {round.least}, claims {round.claims}, options {json.dumps(round.options)}") from None
    finally:
        for watch in watches:
            watch.close()
    return done


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clusterd")
    parser.add_argument("--calls", type=int, default=int(os.environ.get("CLUSTERD_LEAK_CALLS", 2000)))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep-going", action="store_true", help="report every leak, not only the first one")
    arguments = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="leaks-", dir="/tmp")
    os.chmod(folder, 0o755)
    try:
        pair, done, number, leaks, started = Pair(os.path.abspath(arguments.clusterd), folder), 0, arguments.seed * 1_000_000, 0, time.monotonic()
        try:
            while done < arguments.calls:
                number += 1
                round = Round(number, random.Random(number))
                try:
                    done += run_round(pair, round, min(300, arguments.calls - done + 30))
                except AssertionError as failure:
                    leaks += 1
                    print(f"round {number}: {failure}", flush=True)
                    if not arguments.keep_going:
                        break
                    done += 1
        finally:
            pair.end()
        for name, count in sorted(pair.counts.items()):
            print(f"{count:8} {name}")
        print(f"{done} calls in {number % 1_000_000} rounds, {time.monotonic() - started:.0f} s: {leaks} leaks")
        sys.exit(1 if leaks else 0)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()

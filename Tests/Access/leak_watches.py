# SPDX-License-Identifier: MIT
"""Watches of leaks.py that stay open while features appear, move, disappear, and become visible or hidden."""
import http.client, json

from leak_daemons import MARK
from leak_doors import bearer, difference, percent, query_text

class Watch:
    """A watch that stays open while data change."""

    def __init__(self, pair, round):
        random = round.random
        self.params = {"bbox": round.box(), "zoom": random.choice([0, 2, 5, 17])}
        if random.random() < 0.5:
            self.params["filter"] = ["<", ["to-number", ["get", "m"], 0], 8]
        if random.random() < 0.3 and not round.least:
            self.params["window"] = {"m": [2, 9]}
        self.transitions = random.random() < 0.5
        query = "&".join(f"{name}={percent(query_text(name, value))}" for name, value in self.params.items())
        if self.transitions:
            query += "&transitions=true"
        self.connection = http.client.HTTPConnection("127.0.0.1", pair.whole.port, timeout=60)
        self.connection.request("GET", f"/sources/orders/watch?{query}&maxRateHz=1000", headers={"Accept": "text/event-stream", **bearer(round)})
        self.response = self.connection.getresponse()
        assert self.response.status == 200, self.response.read()
        self.markers, self.revision = {}, 0

    def follow(self, revision):
        """Takes events up to a revision."""
        while self.revision < revision:
            line = self.response.readline()
            assert line, f"the watch {self.params} has ended"
            if not line.startswith(b"data:"):
                continue
            assert MARK.encode() not in line, f"the watch {self.params} shows a hidden feature: {line}"
            item = json.loads(line[5:])
            removed = [each["key"] if self.transitions else each for each in item["remove"]]
            for key in removed:
                assert key in self.markers, f"the watch {self.params} removes {key}, which the client does not have: {item}"
            left = {key: marker for key, marker in self.markers.items() if key not in removed}
            for each in item.get("update", []):
                assert each["key"] in left, f"the watch {self.params} updates what the client does not have: {item}"
            added = {each["key"]: each for each in item["add"] + item.get("update", [])}
            for each in item["add"]:
                assert each.get("from") is None or each["from"] in self.markers, f"the watch {self.params} names an unknown marker: {item}"
            for each in item["remove"]:
                if self.transitions and "into" in each:
                    assert each["into"] in left or each["into"] in added, f"the watch {self.params} names an unknown marker: {item}"
            assert item["keep"] == len([key for key in left if key not in added]), f"the watch {self.params} counts {item['keep']}: {item}"
            self.markers = {**left, **added}
            self.revision = item["revision"]

    def check(self, pair):
        expected = pair.part.call("ClusterService/GetClusters", source="orders", **self.params)["features"]
        shown = [{name: value for name, value in marker.items() if name not in ("key", "from")} for marker in self.markers.values()]

        def text(features):
            # Ids of clusters that updates have changed have another form than those of the other daemon, whose are new.
            for each in features:
                if each["properties"].get("cluster"):
                    each["id"] = each["properties"]["cluster_id"] = 0
            return sorted(json.dumps(each, sort_keys=True) for each in features)
        if text(shown) != text(expected):
            raise AssertionError(f"the watch {self.params} differs from GetClusters at {difference(text(shown), text(expected))}")

    def close(self):
        self.connection.close()


def change(pair, round):
    """Changes some features: they appear, move, disappear, or become visible or hidden."""
    random = round.random
    known = [feature["id"] for feature in round.all if "id" in feature]
    upserts = []
    for _ in range(random.randrange(1, 6)):
        feature = round.feature(random.randrange(400))
        feature["id"] = random.choice(known) if known and random.random() < 0.7 else random.randrange(400)
        if (feature["properties"]["name"].startswith(MARK)) != (not round.shows(feature, round.claims)):
            continue
        upserts.append(feature)
    unique = {json.dumps(each["id"]): each for each in upserts}
    removals = [random.choice(known)] if known and random.random() < 0.5 else []
    removals = [each for each in removals if json.dumps(each) not in unique]
    answer = pair.whole.call("SourceService/UpdateFeatures", source="orders", upsert=list(unique.values()), remove=removals)
    round.all = pair.whole.features("orders")
    pair.part.replace("orders", round.shown(round.all))
    return answer["revision"]

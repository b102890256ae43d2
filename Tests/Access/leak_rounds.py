# SPDX-License-Identifier: MIT
"""What leaks.py asks about: random data, random rules, and random params of every method."""
import json

from leak_daemons import MARK, PACKAGE, WORLD, token

# What is shown: each kind of rule is an expression and, beside it, the same in Python.


def has(feature, name):
    return name in (feature.get("properties") or {})


def get(feature, name):
    return (feature.get("properties") or {}).get(name)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def rule_of_tenant(random):
    return ["==", ["get", "tenant"], ["claim", "tenant"]], lambda f, c: get(f, "tenant") == c["tenant"]


def rule_of_tenants(random):
    return (["in", ["get", "tenant"], ["claim", "tenants"]],
            lambda f, c: isinstance(get(f, "tenant"), str) and get(f, "tenant") in c["tenants"])


def rule_of_match(random):
    return ["match", ["get", "tenant"], ["claim", "tenant"], True, False], lambda f, c: get(f, "tenant") == c["tenant"]


def rule_of_level(random):
    bound = random.randrange(0, 60)
    return ["<", ["get", "n"], bound], lambda f, c: is_number(get(f, "n")) and get(f, "n") < bound


def rule_of_claimed_level(random):
    return (["<=", ["to-number", ["get", "n"], 0], ["claim", "level"]],
            lambda f, c: (get(f, "n") if is_number(get(f, "n")) else 0) <= c["level"])


def rule_of_public(random):
    return ["any", ["has", "public"], rule_of_tenant(random)[0]], lambda f, c: has(f, "public") or get(f, "tenant") == c["tenant"]


def rule_of_both(random):
    (a, shows_a), (b, shows_b) = rule_of_tenant(random), rule_of_level(random)
    return ["all", a, b], lambda f, c: shows_a(f, c) and shows_b(f, c)


def rule_of_others(random):
    return ["!", rule_of_tenant(random)[0]], lambda f, c: get(f, "tenant") != c["tenant"]


def rule_of_ids(random):
    def number(feature):
        # A text is no number, and null is 0.
        return feature.get("id", 0) if is_number(feature.get("id", 0)) else 1
    return ["==", ["%", ["to-number", ["id"], 1], 3], 1], lambda f, c: number(f) % 3 == 1


def rule_of_all(random):
    return True, lambda f, c: True


def rule_of_none(random):
    return False, lambda f, c: False


RULES = [rule_of_tenant] * 4 + [rule_of_tenants, rule_of_match, rule_of_level, rule_of_claimed_level, rule_of_public, rule_of_both,
                                rule_of_others, rule_of_ids, rule_of_all, rule_of_none]


def with_claims(expression, claims):
    """The filter for a caller without a token."""
    if isinstance(expression, list):
        if expression[:1] == ["claim"]:
            value = claims[expression[1]]
            return ["literal", value] if isinstance(value, list) else value
        return [with_claims(part, claims) for part in expression]
    return expression


class Round:
    """Data, a rule, and random calls about them."""

    def __init__(self, number, random):
        self.random = random
        self.claims = {"tenant": random.choice(["acme", "umbrella"]), "tenants": ["acme", "initech"], "level": random.randrange(0, 60)}
        self.rule, self.shows = random.choice(RULES)(random)
        self.least = random.choice([0] * 7 + [1, 2, 4])
        # Ids may repeat, also among tenants, or be missing.
        self.ids = random.choice(["unique", "unique", "few", "texts", "none", "mixed"])
        self.all = [self.feature(number) for number in range(random.choice([0, 1, 5] + [60] * 4 + [300] * 6))]
        self.options = self.make_options()
        self.bearer = token(**self.claims, **{"clusterd:right": random.choice(["query", "manage"])})
        # Ids of clusters that the caller sees, and any.
        self.seen = []
        self.clusters = [1, 33, 65, 97, 10_000, 1_000_000, -1]

    def shown(self, features):
        return [feature for feature in features if self.shows(feature, self.claims)]

    def feature(self, number):
        random = self.random
        tenant = random.choice(["acme", "umbrella", "initech", "é", None])
        spot = random.choice([None, (10, 50), (10.001, 50.001), (-120, -30)])
        longitude, latitude = spot or (random.randrange(-1790, 1790) / 10, random.randrange(-840, 840) / 10)
        properties = {"tenant": tenant, "n": random.choice([number % 50, number % 7, None, "text"]), "m": number % 11}
        if random.random() < 0.1:
            properties["public"] = True
        feature = {"type": "Feature", "geometry": {"type": "Point", "coordinates": [longitude, latitude]}, "properties": properties}
        kind = self.ids if self.ids != "mixed" else random.choice(["unique", "few", "texts", "none"])
        if kind != "none":
            feature["id"] = {"unique": number, "few": random.randrange(8), "texts": f"t{random.randrange(40)}"}[kind]
        if not self.shows(feature, self.claims):
            properties["name"], properties[MARK], properties["tag"] = f"{MARK} {number}", number, f"{MARK}{number % 3}"
                # The mark must not change what the rule shows.
            assert not self.shows(feature, self.claims)
        else:
            properties["name"], properties["tag"] = f"lion {number}", f"lion{number % 3}"
        return feature

    def make_options(self):
        random = self.random
        options = {"indexedProperties": {"n": ["get", "n"], "m": ["get", "m"]}}
        if random.random() < 0.5:
            options["clusterProperties"] = {"sum": ["+", ["get", "m"]], "most": ["max", ["get", "m"]]}
        choices = {
            "radius": [20, 60, 120], "minPoints": [2, 3], "maxZoom": [3, 8, 16], "sortKey": [["get", "m"], ["id"]],
            "partitionBy": [["get", "tag"], ["get", "m"]], "weight": [["+", 1, ["get", "m"]]], "clusterIds": ["origin"], "generateId": [True],
            "precision": ["fixed", "double"]}
        for name, values in choices.items():
            if random.random() < 0.25:
                options[name] = random.choice(values)
        if random.random() < 0.4:
            options["views"] = {"wide": {"radius": 100}, "few": {"filter": ["<", ["to-number", ["get", "m"], 0], 5]}}
            if self.rule is not True and random.random() < 0.5:
                options["views"]["same"] = {"filter": with_claims(self.rule, self.claims)}
        return options

    # Params by their names.

    def params(self, method, names):
        made = {}
        for name in names:
            if name not in PARAMS:
                raise AssertionError(f"{method} has the param {name}, and leaks.py does not know how to make it")
            needed = name in NEEDED or (method, name) in NEEDED
            if needed or self.random.random() < 0.2:
                value = PARAMS[name](self, method)
                if value is not None:
                    made[name] = value
        # Half of the calls about one cluster or feature are about one that is there.
        if self.random.random() < 0.5 and (found := {"clusterId": self.seen, "featureId": self.known()}.get(
                next((name for name in ("clusterId", "featureId") if name in made), ""))):
            made = {name: value for name, value in made.items() if name not in ("filter", "revision", "atLeast", "window")}
            made |= {"source": "orders", "clusterId" if "clusterId" in made else "featureId": self.random.choice(found)}
        # One of these two is needed, or the answer is always the same error.
        if method == "GetHistogram" and self.random.random() < 0.9:
            made.pop(self.random.choice(["bins", "edges"]), None)
            if "bins" not in made and "edges" not in made:
                made["bins"] = 7
        if "topBy" in made or "top" in made.get("include", []):
            made["topBy"] = made.get("topBy", "m")
            made["include"] = made.get("include", []) + ["top"] * ("top" not in made.get("include", []))
        if "atLeast" in made and self.random.random() < 0.8:
            del made["atLeast"]
        if "revision" in made and self.random.random() < 0.8:
            del made["revision"]
        return made

    def known(self):
        return [feature["id"] for feature in self.shown(self.all) if "id" in feature]

    def source(self):
        views = ["orders:" + view for view in self.options.get("views", {})]
        return self.random.choice(["orders"] * 24 + views * 6 + ["orders:nosuch", "vault", "vaulx", f"hidden-{MARK}", "hidden-zebr", "ordrs", "open", "no/name"])

    def filter(self):
        random = self.random
        return random.choice([
            [">", ["get", "n"], random.randrange(50)], ["==", ["get", "tenant"], "umbrella"], ["==", ["get", "name"], "zebra 3"],
            ["in", MARK, ["get", "name"]], ["<", ["get", "m"], ["*", 3, ["zoom"]]], ["has", MARK], ["!", ["has", MARK]],
            ["==", "tenant", "acme"], [">", ["get", "nosuch"], 1], ["error", "x"], random.choice([["=="], ["claim", "tenant"], 1, ["==", ["id"], 3]]),
            ["any", ["error", "no"], True], True, False, ["has", "n"], [">=", ["to-number", ["get", "m"], 0], 4], ["==", ["string", ["get", "tag"]], "lion1"],
            ["==", ["hash", ["get", "name"]], 5], [">", ["length", ["get", "name"]], 6]])

    def box(self):
        random = self.random
        return random.choice([WORLD, WORLD, [9, 49, 11, 51], [170, -85, -170, 85], [-60.5, -20, 100, 60], [0, 0, 0, 0], [-1e9, -1e9, 1e9, 1e9]])

    def identifier(self):
        random = self.random
        return random.choice([random.randrange(60), random.randrange(8), f"t{random.randrange(40)}", f"{MARK} 3", 1000, "x"])

    def window(self):
        random = self.random
        ends = sorted(random.randrange(-1, 55) for _ in range(2))
        return {random.choice(["n", "m", "m", "m", "n", "nosuch"]): random.choice([ends, [None, ends[1]], [ends[0], None], [None, None]])}


def some(values):
    return lambda round, method: round.random.choice(values)


def several(values):
    return lambda round, method: round.random.sample(values, round.random.randrange(len(values)))


PARAMS = {
    "source": lambda round, method: round.source() if method != "CreateSource" else round.random.choice(["orders", "vault", "mine", "orders-new", f"hidden-{MARK}"]),
    "bbox": lambda round, method: round.box(),
    "zoom": lambda round, method: round.random.choice([0, 1, 2, 3, 5, 8, 12, 17, 20, 4.5]),
    "limit": some([0, 1, 3, 10, 1000]), "offset": some([0, 1, 100]), "precision": some([0, 2, 5]),
    "properties": several(["name", "m", MARK, "tenant"]),
    "filter": lambda round, method: round.filter(),
    # With minCount, keys are each daemon's own.
    "include": lambda round, method: round.random.sample(
        ["hull", "bbox", "expansionZoom", "coincident", "anchor", "spider"] + (["key"] if round.least < 2 else []), round.random.randrange(4))
    + (["top"] if round.random.random() < 0.1 else []),
    "revision": some([0, 1, 10**9]), "atLeast": some(["0/1", "x"]),
    "window": lambda round, method: round.window(),
    "pin": lambda round, method: [round.identifier() for _ in range(round.random.randrange(6))],
    "topBy": some(["n", "-m", "m", "n", "nosuch"]), "by": some(["n", "-n", "m", "-m", "nosuch"]), "property": some(["n", "m", "n", "m", "nosuch"]),
    "bins": some([1, 7, 100]), "edges": some([[-1, 10, 25, 50], [0, 1], [5, 5]]), "resolution": some([0, 2, 7, 12]),
    "maxRateHz": some([1000]), "transitions": lambda round, method: True if round.least < 2 else None,
    "z": some([0, 1, 2, 3]), "x": some([0, 0, 1, 2]), "y": some([0, 0, 1, 2]), "encoding": some(["json", "mvt"]), "grid": some([1, 3, 4]),
    "clusterId": lambda round, method: round.random.choice(round.clusters),
    "featureId": lambda round, method: round.identifier(),
    "options": some([{}, {"radius": 60}]), "upsert": some([[{"type": "Feature", "id": 5, "geometry": {"type": "Point", "coordinates": [1, 2]}, "properties": {"m": 1}}]]), "remove": lambda round, method: [round.identifier()],
    "features": lambda round, method: [], "log": some(["a"]), "position": some(["1"]),
    "path": lambda round, method: "a.pmtiles" if method == "PublishTiles" else "/nosuch.geojson",
    "mode": some(["append"]), "onInvalid": some(["skip"]), "wrap": some([True]), "allowEmpty": some([True]),
    "longitude": some(["x"]), "latitude": some(["y"]), "id": some(["id"]), "delimiter": some([";"]), "text": some([["zip"]]),
    "minZoom": some([0, 1]), "maxZoom": some([1, 2, 3]), "compression": some(["none"]), "name": some(["A"]), "description": some(["B"]),
    "attribution": some(["C"]), "overwrite": some([True]), "estimate": some([True]),
    "expression": some([["+", 1, 1], ["get", "name"], ["claim", "tenant"]]), "feature": some([{"properties": {"name": "x"}}]),
    "accumulated": some([1]), "type": some(["number"]), "format": some(["prometheus"]), "token": some(["a.b.c"]),
    "tiles": some(["http://localhost/{z}/{x}/{y}"]),
}
NEEDED = {
    "source", "bbox", "z", "x", "y", "clusterId", "featureId", "resolution", "by", "property", "path", "log", "expression", "token", "tiles",
    ("GetClusters", "zoom"), ("LocateFeature", "zoom"), ("WatchClusters", "zoom"), ("GetHistogram", "bins"), ("GetHistogram", "edges"),
    ("UpdateOptions", "options"), ("PublishTiles", "overwrite"), ("PublishTiles", "maxZoom"),
}
# What the daemon does not list, and its params.
UNLISTED = [
    {"name": PACKAGE + "ServerService/ExplainAccess", "kind": "unary", "right": "admin", "params": ["source", "token"]},
    {"name": PACKAGE + "ClusterService/DescribeTiles", "kind": "unary", "right": "query", "params": ["source", "tiles", "filter"]},
]

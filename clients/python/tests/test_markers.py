# SPDX-License-Identifier: MIT
import random
import unittest

import clusterd
from clusterd._markers import MarkerQueue, Pace


def marker(key, longitude, value=0, **more):
    geometry = {"type": "Point", "coordinates": [longitude, 0]}
    return {"type": "Feature", "geometry": geometry, "properties": {"value": value}, "key": key, **more}


def item(add=(), remove=(), keep=0, revision=1, **more):
    return {"add": list(add), "remove": list(remove), "keep": keep, "revision": revision, **more}


class MarkerQueueTests(unittest.TestCase):
    def test_a_slow_app_ends_with_what_is_shown(self):
        for seed in range(200):
            self.replay(random.Random(seed))

    def replay(self, generator):
        queue, shown, app = MarkerQueue(), {}, {}
        for revision in range(1, 12):
            gone = generator.sample(sorted(shown), generator.randint(0, len(shown)))
            kept = sorted(set(shown) - set(gone))
            changed = generator.sample(kept, generator.randint(0, len(kept)))
            new = [key for key in "abcdefgh" if key not in shown and generator.random() < 0.4]
            add = [marker(key, generator.uniform(-180, 180), revision) for key in new]
            update = [marker(key, generator.uniform(-180, 180), revision) for key in changed]
            removed = [{"key": key} for key in gone]
            queue.apply(item(add, removed, len(kept) - len(changed), revision, update=update))
            for key in gone:
                del shown[key]
            shown.update((value["key"], value["properties"]["value"]) for value in add + update)
            self.drain(queue, app, generator.choice([0, 1, 2, 100]))
        self.drain(queue, app, 10_000)
        self.assertEqual(app, shown)

    def drain(self, queue, app, most):
        change = queue.take(most)
        self.assertLessEqual(len(change), most)
        for removed in change.removed:
            del app[removed.key]
        for added in change.added:
            self.assertNotIn(added.key, app)
        for updated in change.updated:
            self.assertIn(updated.key, app)
        app.update((m.key, m.feature.properties["value"]) for m in change.added + change.updated)

    def test_markers_come_out_of_and_go_into_others(self):
        queue = MarkerQueue()
        queue.apply(item([marker("a", 10)]))
        self.assertEqual([m.start for m in queue.take(9).added], [None])
        queue.apply(item([marker("b", 12, **{"from": "a"})], keep=0, update=[marker("a", 8)]))
        change = queue.take(9)
        self.assertEqual([(m.key, m.comes_from, m.start) for m in change.added], [("b", "a", (10, 0))])
        self.assertEqual([m.key for m in change.updated], ["a"])
        self.assertNotIn("from", change.added[0].feature)
        queue.apply(item(remove=[{"key": "b", "into": "a"}], keep=0, update=[marker("a", 9)]))
        removed = queue.take(9).removed[0]
        self.assertEqual((removed.key, removed.into, removed.end), ("b", "a", (9, 0)))

    def test_what_comes_and_goes_meanwhile_is_left_out(self):
        queue = MarkerQueue()
        queue.apply(item([marker("a", 1)]))
        queue.apply(item(remove=["a"]))
        self.assertEqual(len(queue.take(9)), 0)

    def test_the_nearest_to_the_centre_comes_first(self):
        queue = MarkerQueue()
        queue.center = (179, 0)
        queue.apply(item([marker("far", 0), marker("near", -179), marker("nearest", 178.5)]))
        self.assertEqual([queue.take(1).added[0].key for _ in range(3)], ["nearest", "near", "far"])

    def test_items_that_do_not_fit_are_refused(self):
        for bad in (item(remove=["x"]), item(keep=3), {"add": []}, None, item([{"key": "a"}]), item(revision="x")):
            with self.assertRaises(clusterd.ClusterdError) as caught:
                MarkerQueue().apply(bad)
            self.assertEqual(caught.exception.status, "INTERNAL")


class PaceTests(unittest.TestCase):
    def test_batches_follow_what_the_app_takes(self):
        pace = Pace(0.016)
        for _ in range(50):
            pace.took(0.001 * pace.batch, pace.batch)
        self.assertEqual(pace.batch, 8)  # half of 16 ms at 1 ms a marker
        for _ in range(50):
            pace.took(0, pace.batch)
        self.assertEqual(pace.batch, 1000)
        pace.took(3600, 1)
        self.assertGreaterEqual(pace.batch, 1)

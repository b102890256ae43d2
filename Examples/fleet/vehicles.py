#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Vehicles that drive around a few cities, and publish where they are to NATS JetStream: vehicles.py PORT COUNT"""
import json, math, random, socket, sys, time

PORT, COUNT = int(sys.argv[1]), int(sys.argv[2])
CITIES = [(13.4, 52.5), (2.35, 48.85), (-0.12, 51.5), (12.5, 41.9), (-3.7, 40.4), (18.07, 59.33), (21.0, 52.2), (14.4, 50.1)]
#: Positions published in a second.
RATE = 5000
STREAM = {"name": "FLEET", "subjects": ["vehicles.*"], "storage": "file", "max_msgs_per_subject": 10, "max_bytes": 1 << 30}


class Vehicle:
    def __init__(self):
        city = random.choice(CITIES)
        self.longitude, self.latitude = random.gauss(city[0], 0.3), random.gauss(city[1], 0.2)
        self.heading = random.uniform(0, 2 * math.pi)

    def drive(self):
        self.heading += random.gauss(0, 0.3)
        self.longitude = min(179, max(-179, self.longitude + 0.002 * math.sin(self.heading)))
        self.latitude = min(85, max(-85, self.latitude + 0.002 * math.cos(self.heading)))
        return {"lon": round(self.longitude, 5), "lat": round(self.latitude, 5), "speed": random.randrange(120)}


def connect():
    while True:
        try:
            broker = socket.create_connection(("127.0.0.1", PORT), timeout=5)
            body = json.dumps(STREAM).encode()
            broker.sendall(b'CONNECT {"verbose":false}\r\nPUB $JS.API.STREAM.CREATE.FLEET answers %d\r\n%s\r\n' % (len(body), body))
            return broker
        except OSError:
            time.sleep(0.1)


vehicles = [Vehicle() for _ in range(COUNT)]
broker, next_one, began, published = connect(), 0, time.monotonic(), 0
while True:
    batch = bytearray(b"PONG\r\n")
    for _ in range(RATE // 20):
        body = json.dumps(vehicles[next_one].drive()).encode()
        batch += b"PUB vehicles.%d %d\r\n%s\r\n" % (next_one, len(body), body)
        next_one = (next_one + 1) % COUNT
    try:
        broker.sendall(batch)
    except OSError:  # what was on its way is driven again
        broker = connect()
    published += RATE // 20
    time.sleep(max(0, began + published / RATE - time.monotonic()))

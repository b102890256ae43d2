#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs browser.html in a headless Chromium: python3 browser.py DAEMON_URL SOURCE

Prints what the page reports. The daemon's http.origins must allow the page's origin.
"""
import functools
import http.server
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import urllib.parse

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LEAFLET = "/usr/share/javascript/leaflet"
reports = queue.Queue()


class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".js": "text/javascript"}

    def translate_path(self, path):
        if path.startswith("/leaflet/"):
            return os.path.join(LEAFLET, os.path.basename(urllib.parse.urlsplit(path).path))
        return super().translate_path(path)

    def do_POST(self):
        reports.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def main():
    daemon, source = sys.argv[1:]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=FOLDER))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    query = urllib.parse.urlencode({"daemon": daemon, "source": source})
    page = f"http://127.0.0.1:{server.server_port}/tests/browser.html?{query}"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", page],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        try:
            print(json.dumps(reports.get(timeout=120)))
        finally:
            browser.kill()
            browser.wait()


main()

# SPDX-License-Identifier: MIT
"""Drives a headless Chromium over the DevTools protocol, through a pipe; Python's standard library alone."""
import base64, fcntl, json, os, select, shutil, signal, tempfile, time

FLAGS = [
    "--headless=new", "--no-first-run", "--no-default-browser-check", "--disable-gpu", "--disable-extensions",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
    "--disable-domain-reliability", "--disable-client-side-phishing-detection", "--metrics-recording-only",
    "--mute-audio", "--hide-scrollbars", "--remote-debugging-pipe",
]


class Failure(Exception):
    pass


def program():
    """Chromium's path, or None."""
    return next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)


class Browser:
    """A browser with a profile of its own, which goes with it."""

    def __init__(self, *flags):
        self.profile = tempfile.mkdtemp(prefix="clusterd-chromium-")
        from_us, to_browser = os.pipe()
        from_browser, to_us = os.pipe()
        # The browser reads commands from descriptor 3 and writes to 4.
        inner = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, 10) for descriptor in (from_us, to_us)]
        path = program()
        flags = [*FLAGS, *flags, f"--user-data-dir={self.profile}"] + (["--no-sandbox"] if os.getuid() == 0 else [])
        self.process = os.posix_spawn(
            path, [path, *flags], os.environ, setsid=True,
            file_actions=[(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
            + [(os.POSIX_SPAWN_DUP2, inner[0], 3), (os.POSIX_SPAWN_DUP2, inner[1], 4)]
            + [(os.POSIX_SPAWN_CLOSE, descriptor) for descriptor in inner])
        for descriptor in (from_us, to_us, *inner):
            os.close(descriptor)
        self.output, self.input = to_browser, from_browser
        self.buffer, self.last_id, self.answers, self.pages = b"", 0, {}, {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.output)
        os.close(self.input)
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, session=None, timeout=120, **params):
        self.last_id += 1
        number = self.last_id
        message = {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.output, data):]
        end = time.monotonic() + timeout
        while number not in self.answers:
            self.receive(end, method)
        answer = self.answers.pop(number)
        if "error" in answer:
            raise Failure(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def receive(self, end, what):
        """Takes in what the browser has sent; waits for some until a time."""
        if not select.select([self.input], [], [], max(0, end - time.monotonic()))[0]:
            raise Failure(f"{what}: the browser does not answer")
        piece = os.read(self.input, 1 << 20)
        if not piece:
            raise Failure(f"{what}: the browser has ended")
        *messages, self.buffer = (self.buffer + piece).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self.answers[message["id"]] = message
            elif page := self.pages.get(message.get("sessionId")):
                page.take(message["method"], message["params"])

    def page(self, width=1280, height=800, dark=False, scale=1, mobile=False):
        return Page(self, width, height, dark, scale, mobile)


class Page:
    """A tab: what it asked for is in `requests`, what went wrong in `problems`."""

    def __init__(self, browser, width, height, dark, scale, mobile):
        self.browser, self.requests, self.problems, self.sockets = browser, [], [], []
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        browser.pages[self.session] = self
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile)
        self.set_theme(dark)

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def set_theme(self, dark):
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def take(self, method, params):
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Network.webSocketCreated":
            self.requests.append(params["url"])
        elif method in ("Network.webSocketFrameReceived", "Network.webSocketFrameSent"):
            self.sockets.append((method[len("Network.webSocketFrame"):], params["response"]["payloadData"]))
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.problems.append(" ".join(str(part.get("value", part.get("description"))) for part in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.problems.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")

    def open(self, url):
        self.call("Page.navigate", url=url)

    def evaluate(self, expression):
        """The value of a JavaScript expression; a promise's when it is there."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise Failure(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def wait(self, expression, what=None, timeout=120):
        """Waits until an expression is true, and returns its value: the page looks before each frame."""
        script = f"""new Promise((resolve, reject) => {{
            const end = performance.now() + {timeout * 1000};
            (function look() {{
                let value;
                try {{ value = ({expression}); }} catch (error) {{ value = undefined; }}
                if (value) resolve(value);
                else if (performance.now() > end) reject(new Error("never: " + {json.dumps(what or expression)}));
                else setTimeout(look, 10);
            }})();
        }})"""
        answer = self.browser.call(
            "Runtime.evaluate", self.session, timeout=timeout + 30, expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            problems = "; ".join(self.problems[:3])
            raise Failure(f"{details.get('exception', {}).get('description', details['text'])} {problems}")
        return answer["result"].get("value")

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def hover(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def key(self, key, code=None, text=None):
        numbers = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "+": 187, "-": 189}
        params = {"key": key, "code": code or key, "windowsVirtualKeyCode": numbers.get(key, ord(key[0].upper()))}
        text = text or ("\r" if key == "Enter" else key if len(key) == 1 else None)
        self.call("Input.dispatchKeyEvent", type="keyDown", **params, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **params)

    def write(self, text):
        self.call("Input.insertText", text=text)

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)

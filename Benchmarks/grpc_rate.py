# SPDX-License-Identifier: MIT
"""Views by gRPC a second: beside a grpc++ server that returns the same bytes prebuilt, and beside the same views by frames.
h2load (nghttp2-client) calls both gRPC servers, clusterctl bench the frames. Needs protobuf-compiler, python3-protobuf,
libgrpc++-dev and nghttp2-client. Alone: /usr/bin/python3 Benchmarks/grpc_rate.py [BIN] [SECONDS]."""
import json, os, re, shutil, socket, struct, subprocess, sys, tempfile, time

ROUNDS = 3
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, check=True).stdout


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    for _ in range(500):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise SystemExit(f"nothing listens on port {port}")


def load(port, data, clients, streams, seconds):
    """Calls a second and the median in microseconds."""
    out = run("h2load", "-D", str(seconds), "--warm-up-time", "1", "-c", str(clients), "-m", str(streams), "-t", "1",
              "-d", data, "-H", "content-type: application/grpc", "-H", "te: trailers",
              f"http://127.0.0.1:{port}/clusterd.v1.ClusterService/GetClusters")
    rate = float(re.search(r"([\d.]+) req/s", out).group(1))
    failed = int(re.search(r"(\d+) failed", out).group(1))
    assert failed == 0, out
    return rate


def main(binaries, seconds):
    folder = tempfile.mkdtemp()
    run("protoc", "-I", os.path.join(ROOT, "proto"), "--python_out", folder, "clusterd/v1/clusterd.proto")
    sys.path.insert(0, folder)
    from clusterd.v1 import clusterd_pb2 as pb
    server = os.path.join(folder, "grpc_server")
    flags = run("pkg-config", "--cflags", "--libs", "grpc++").split()
    run("c++", "-O2", "-std=c++17", os.path.join(ROOT, "Benchmarks", "grpc_server.cc"), "-o", server, *flags)
    path, port, other = os.path.join(folder, "c"), free_port(), free_port()
    control = lambda *arguments: run(os.path.join(binaries, "clusterctl"), "--socket", path, *arguments)
    daemon = subprocess.Popen([os.path.join(binaries, "clusterd"), "--socket", path, "--http", f"127.0.0.1:{port}",
                               "--log-level", "error"])
    prebuilt = None
    try:
        wait_for(port)
        points = os.path.join(folder, "points")
        run(os.path.join(binaries, "clusterctl"), "generate", "gathered", "1000000", "-o", points)
        control("create", "bench")
        control("import", "bench", points)
        views = []
        for longitude in range(-180, 180, 5):
            for width in (4, 8, 16, 30):
                text = control("clusters", "bench", "-b", f"{longitude},-20,{longitude + width},{width}", "-z", "5",
                               "--output", "geojson")
                views.append((len(text), longitude, width))
        for form in ("12 KB as JSON", "12 KB as protobuf"):
            target = 12_000 if form.endswith("JSON") else 12_000 / 0.33
            size, longitude, width = min(views, key=lambda view: abs(view[0] - target))
            box = pb.BoundingBox(west=longitude, south=-20, east=longitude + width, north=width)
            message = pb.GetClustersRequest(source="bench", bbox=box, zoom=5).SerializeToString()
            data = os.path.join(folder, "request")
            with open(data, "wb") as file:
                file.write(struct.pack(">BI", 0, len(message)) + message)
            answer = os.path.join(folder, "answer")
            raw = subprocess.run(["curl", "-s", "--http2-prior-knowledge", "--data-binary", f"@{data}", "-H",
                                  "content-type: application/grpc", "-H", "te: trailers",
                                  f"http://127.0.0.1:{port}/clusterd.v1.ClusterService/GetClusters"],
                                 capture_output=True, check=True).stdout
            with open(answer, "wb") as file:
                file.write(raw[5:])
            prebuilt = subprocess.Popen([server, f"127.0.0.1:{other}", answer])
            wait_for(other)
            print(f"{form}: {len(raw) - 5:,} bytes, {size:,} as JSON ({(len(raw) - 5) / size:.0%})", flush=True)
            for clients, streams in ((16, 1), (4, 10), (1, 1)):
                pairs = [(load(port, data, clients, streams, seconds), load(other, data, clients, streams, seconds))
                         for _ in range(ROUNDS)]
                ours, theirs = sorted(pairs, key=lambda pair: pair[0] / pair[1])[ROUNDS // 2]
                print(f"  {clients} connections with {streams} calls: {ours:,.0f}/s; grpc++ {theirs:,.0f}/s; "
                      f"ratio {ours / theirs:.2f}", flush=True)
            prebuilt.terminate()
            prebuilt.wait()
            prebuilt = None
        frames = json.loads(control("bench", "--json", "-c", "16", "-t", str(seconds), "bench", "-z", "3-6", "-n", "60"))
        print(f"frames, views of {frames['averageBytes'] / 1000:.1f} KB: {frames['perSecond']:,.0f}/s", flush=True)
    finally:
        for process in (daemon, prebuilt):
            if process:
                process.terminate()
                process.wait()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, ".build", "release"),
         int(sys.argv[2]) if len(sys.argv) > 2 else 4)

# SPDX-License-Identifier: MIT
"""What depends on the machine and is reported."""
from scene import check, MARKERS, SCRIPTED_SOCKET, TIMED_SOCKET


def frames(scene, number=500):
    """How many frames a second there are while many markers move; reported, since it depends on the machine."""
    page = scene.open("/?source=cities#3/48/10", script=SCRIPTED_SOCKET)
    page.wait("window.sockets?.length === 1", "a watch")
    result = page.evaluate(f"""(async () => {{
        const feature = (index, shift) => ({{ type: "Feature", id: index, key: "k" + index,
            geometry: {{ type: "Point", coordinates: [-20 + (index % 25) * 2.4 + shift, 34 + Math.floor(index / 25) * 1.2] }},
            properties: {{ cluster: true, cluster_id: index, point_count: 2 + index, point_count_abbreviated: 2 + index }} }});
        const all = (shift) => Array.from({{ length: {number} }}, (_, index) => feature(index, shift));
        const send = (item) => sockets[0].onmessage({{ data: JSON.stringify(item) }});
        send({{ add: all(0), update: [], remove: [], keep: 0, revision: 1 }});
        await new Promise((resolve) => setTimeout(resolve, 1000));
        const times = [];
        for (let round = 0; round < 5; round += 1) {{
            send({{ add: [], update: all(round % 2 ? 0 : 4), remove: [], keep: 0, revision: 2 + round }});
            const end = performance.now() + 300;
            let last = performance.now();
            while (last < end) {{
                const now = await new Promise(requestAnimationFrame);
                if (now > last) times.push(now - last);
                last = Math.max(now, last);
            }}
            await new Promise((resolve) => setTimeout(resolve, 200));
        }}
        times.sort((one, other) => one - other);
        const sum = times.reduce((total, time) => total + time, 0);
        return {{ frames: times.length, rate: 1000 * times.length / sum, median: times[times.length >> 1], worst: times.at(-1) }};
    }})()""")
    check(result["frames"] > 0, "no frame was drawn")
    print(f"{number} moving markers: {result['rate']:.0f} frames a second, median {result['median']:.1f} ms, longest {result['worst']:.0f} ms", flush=True)
    check(page.evaluate(f"{MARKERS}.length") == number, "all markers are there")


def drag(scene, seconds=5):
    """How many answers a second there are while the slider plays over the largest source that has indexed properties; reported,
    since it depends on the machine. Without such a source nothing is measured."""
    sources = [source for source in scene.get("/sources")["sources"] if source["options"].get("indexedProperties")]
    if not sources:
        return print("no source has indexed properties: nothing is measured", flush=True)
    source = max(sources, key=lambda source: source["points"])
    name = next(iter(source["options"]["indexedProperties"]))
    page = scene.open(f"/?source={source['source']}&window={name},,", script=TIMED_SOCKET)
    page.wait("document.querySelector('.chart .part path')", "the slider")
    page.evaluate("document.querySelector('#slider .play').click()")
    page.evaluate("new Promise((resolve) => setTimeout(resolve, 1000))")
    page.evaluate("void (window.answers = [])")
    page.evaluate(f"new Promise((resolve) => setTimeout(resolve, {1000 * seconds}))")
    answers = sorted(page.evaluate("answers"))
    check(answers, "nothing was answered")
    print(f"{source['points']:,} points: {len(answers) / seconds:.0f} answers a second, median {answers[len(answers) // 2]:.1f} ms, "
          f"p95 {answers[len(answers) * 95 // 100]:.1f} ms", flush=True)

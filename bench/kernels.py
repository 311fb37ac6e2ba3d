#!/usr/bin/env python3
"""Turns criterion's samples of the kernel benchmark into bench/results/kernels.json and kernels.md.

Run after `cargo bench -p dwell-solvers --bench kernels`, from anywhere. Costs are in nanoseconds for each stored entry.
"""

import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess

COMMAND = "cargo bench -p dwell-solvers --bench kernels && bench/kernels.py"
ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYOUTS = {
    "by-id": "by first appearance",
    "by-length": "by first appearance, sorted by length",
    "hashed-by-length": "hashed, sorted by length",
}


def samples():
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    found = {}
    for path in sorted((target / "criterion" / "kernels").glob("**/new/sample.json")):
        benchmark = json.loads((path.parent / "benchmark.json").read_text())
        sample = json.loads(path.read_text())
        entries = benchmark["throughput"]["Elements"]
        costs = [1.0 * time / count / entries for time, count in zip(sample["times"], sample["iters"])]
        found[benchmark["function_id"]] = {
            "median": round(statistics.median(costs), 3),
            "min": round(min(costs), 3),
            "samples": len(costs),
            "entries": entries,
        }
    if not found:
        raise SystemExit("no samples of the kernel benchmark: run cargo bench first")
    return found


def machine():
    info = pathlib.Path("/proc/cpuinfo")
    models = [l.split(":")[1].strip() for l in info.read_text().splitlines() if l.startswith("model name")] if info.exists() else []
    return {
        "cpu": models[0] if models else platform.processor(),
        "cores": os.cpu_count(),
        "loadAverage": [round(x, 2) for x in os.getloadavg()],
        "system": f"{platform.system()} {platform.machine()}",
        "rustc": subprocess.run(["rustc", "--version"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip(),
    }


def main():
    kernels = samples()
    record = {
        "command": COMMAND,
        "data": {
            "kind": "generated, power law, shape of news20",
            "scale": float(os.environ.get("DWELL_BENCH_SCALE", "1")),
            "seed": int(os.environ.get("DWELL_BENCH_SEED", "1")),
            "entries": next(iter(kernels.values()))["entries"],
        },
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": machine(),
        "nanosecondsPerEntry": {name: {k: v[k] for k in ("median", "min", "samples")} for name, v in kernels.items()},
    }
    floor = kernels["gather/by-id/f32"]
    record["epochOverGather"] = {
        layout: {
            which: round(kernels[f"epoch-bucketed/{layout}/f32"][which] / floor[which], 2) for which in ("median", "min")
        }
        for layout in LAYOUTS
    }

    lines = [
        "# Kernels: cost of one epoch of primal coordinate descent",
        "",
        f"Nanoseconds for each stored entry, median (and minimum) of {floor['samples']} samples, one thread, f64 residual.",
        f"Data: {record['data']['kind']}, {record['data']['entries']} entries, scale {record['data']['scale']:g}, seed {record['data']['seed']}.",
        "",
        "| columns numbered | values | stream | gather | epoch, buckets of 64 | epoch, centred | epoch, random order |",
        "|---|---|---|---|---|---|---|",
    ]
    for layout, title in LAYOUTS.items():
        for kind in ("ones", "f32", "f64"):
            row = [title, kind]
            for kernel in ("stream", "gather", "epoch-bucketed", "epoch-centred", "epoch-random"):
                cost = kernels.get(f"{kernel}/{layout}/{kind}")
                row.append(f"{cost['median']:.2f} ({cost['min']:.2f})" if cost else "")
            lines.append("| " + " | ".join(row) + " |")
    ratios = record["epochOverGather"]
    lines += [
        "",
        "Epoch (f32, buckets of 64) over the gather pass of the unsorted columns, median (and minimum): "
        + "; ".join(f"{LAYOUTS[l]} {r['median']:.2f} ({r['min']:.2f})" for l, r in ratios.items())
        + ".",
        "",
        f"Command: `{COMMAND}`  ",
        f"Machine: {record['machine']['cpu']}, {record['machine']['cores']} cores, load average {record['machine']['loadAverage']}, "
        f"{record['machine']['system']}, {record['machine']['rustc']}, {record['date']}",
    ]
    results = ROOT / "bench" / "results"
    results.mkdir(exist_ok=True)
    (results / "kernels.json").write_text(json.dumps(record, indent=1) + "\n")
    (results / "kernels.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()

#!/usr/bin/env bash
# The main job, end to end, in a ledger of its own: see README.md.
set -euo pipefail
cd "$(dirname "$0")/.."
export PERCUSS_LEDGER=demo/ledger
rm -rf demo
mkdir demo

step() { printf '\n== %s\n' "$*" >&2; }

step "One run: two frames that pound (demo/response.svg, demo/response.csv)"
run=$(percuss simulate studies/pounding-frames --case kv --csv demo/response.csv)
percuss plot "$run" --curve u2 --curve a2 --to demo/response.svg

step "A design of 300 points, and its runs (demo/runs.csv)"
campaign=$(percuss design studies/ishigami --sampler sobol --n 300 --skip 1 | percuss run -)
percuss export csv "$campaign" --to demo/runs.csv

step "A surrogate, and which parameters matter"
percuss surrogate "$campaign" | percuss sensitivity -

step "Regression studies"
percuss check pounding-frames ishigami

step "What is in the ledger, and is it whole?"
percuss log --limit 12
percuss audit --rerun 5
step "done: demo/response.svg, demo/response.csv, demo/runs.csv, demo/ledger"

#!/usr/bin/env bash
# The main job, end to end, in a ledger of its own: from a study and twin data (made by the simulator, not measured) to a report. See README.md.
set -euo pipefail
cd "$(dirname "$0")/.."
export PERCUSS_LEDGER=demo/ledger
rm -rf demo
mkdir demo

step() { printf '\n== %s\n' "$*" >&2; }

step "One run: two frames that pound (demo/response.svg, demo/response.csv)"
run=$(percuss simulate studies/pounding-frames --case kv --csv demo/response.csv)
percuss plot "$run" --curve u2 --curve a2 --to demo/response.svg

step "A design over what is not known of them, and its runs (demo/runs.csv)"
campaign=$(percuss design studies/pounding-twin --n 128 --curves | percuss run -)
percuss export csv "$campaign" --to demo/runs.csv

step "Surrogates of the outputs and of a whole curve, with their errors"
surrogate=$(percuss surrogate "$campaign")
curve=$(percuss surrogate "$campaign" --curves u2 --family chaos)

step "Which parameters matter, and when"
percuss sensitivity "$surrogate"
percuss sensitivity "$curve"

step "What the observations (twin data) say about the parameters"
posterior=$(percuss calibrate "$surrogate" --block all)

step "What follows from it, verified by the simulator"
prediction=$(percuss predict "$posterior" --verify 20 --curves "$curve")

step "Regression studies"
percuss check pounding-frames pounding-twin

step "What is in the ledger, and is it whole?"
percuss log --limit 12
percuss audit --rerun 5

step "A page on all of it"
percuss report "$prediction" --to demo/report.html

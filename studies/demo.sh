#!/usr/bin/env bash
# The main job, end to end, in a ledger of its own: see README.md.
set -euo pipefail
cd "$(dirname "$0")/.."
export PERCUSS_LEDGER=demo/ledger
rm -rf demo
mkdir demo

step() { printf '\n\033[1m%s\033[0m\n' "$*" >&2; }

step "A design of 300 points, and its runs"
campaign=$(percuss design studies/ishigami --sampler sobol --n 300 --skip 1 | percuss run -)
percuss export csv "$campaign" --to demo/runs.csv
step "What is in the ledger"
percuss log
step "Is it whole?"
percuss audit --rerun 5
step "Tables: demo/runs.csv"

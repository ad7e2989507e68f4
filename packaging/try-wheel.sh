#!/usr/bin/env bash
# What an installed percuss must be able to do, in an empty folder: the first chain of the README, plots included.
set -euo pipefail
cd "$(mktemp -d)"
percuss --version
percuss doctor >/dev/null
percuss study copy ishigami
campaign=$(percuss design ishigami --n 64 --skip 1 | percuss run -)
percuss surrogate "$campaign" | percuss sensitivity - >/dev/null
percuss study copy pounding-frames
percuss simulate pounding-frames --case kv >/dev/null
percuss plot @last --curve u2 --to response.svg
percuss report @last --to report.html
percuss audit --rerun 1
echo "the wheel works"

#!/usr/bin/env bash
# Made the ledgers beside this file: one event of every kind there is, by percuss 0.1.0 at f4b0c83 (envelope format 1) and
# by the first percuss that wrote format 2. They are never made again: they are what ledgers of their time look like. Run in
# an empty folder with the studies in `studies`.
set -euo pipefail
studies=studies
export PERCUSS_LEDGER=ledger LOGNAME=engineer
# A short record of the twin data: the whole would be megabytes.
for file in studies/duffing-extrapolation/observations/*.csv; do head -n 401 "$file" > short && mv short "$file"; done
design=$(percuss design linear-gaussian --n 12 --skip 1)
percuss run "$design" --shard 1/2 --jobs 1 || true
percuss run "$design" --shard 2/2 --jobs 1 || true
percuss adopt || true
campaign=$(percuss run "$design")
surrogate=$(percuss surrogate "$campaign" --degree 1..2 --bootstrap 3)
percuss sensitivity "$surrogate" --n 64
percuss calibrate "$surrogate" --evaluations 24000 --accept convergence
posterior=$(percuss calibrate "$surrogate" --evaluations 24000 --seed 1 --accept convergence)
percuss predict "$posterior" --draws 20 --verify 2
percuss compare @last:posterior "$(percuss log --json --limit 0 --kind posterior.sampled | python3 -c 'import json,sys; print(json.load(sys.stdin)[0]["id"])')" --accept convergence
slid=$(percuss design sliding-block --n 20 --curves | percuss run -)
percuss region "$slid" --curve block_ux
percuss validate duffing-extrapolation --model linear --no-traditional --settle "1 s" --training "3 s"
percuss converge sliding-block || true
percuss check sliding-block || true
mkdir -p moved/expected
cp -r "$studies/sliding-block" moved/sliding-block
sed -i 's/^value = .*/value = 9/' moved/sliding-block/expected/*.toml
PERCUSS_STUDIES=moved percuss check sliding-block || true
cp -r "$studies/ishigami" moved/failing
sed -i 's/^function = .*/function = "ishigami"\nfail_above = { x1 = 2.5 }/' moved/failing/study.toml
rm -rf moved/failing/expected
percuss design moved/failing --n 16 --skip 1 | percuss run - || true
percuss simulate block-wall --case fast
percuss filter "$campaign" --observations @last:observations --covariance relative --scale 0.2 --accept fit --accept effective-sample || true
percuss simulate sliding-block --set speed=2.5 --set mu=0.3 --set e=0.1
wrong=$(percuss simulate sliding-block --set speed=2.4 --set mu=0.3 --set e=0.1)
percuss supersede "$wrong" --reason "another speed was meant"
percuss note "$posterior" "as in the report of May"
percuss seal
percuss note "$posterior" "after sealing"
percuss log --limit 0

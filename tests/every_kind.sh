#!/usr/bin/env bash
# `tests/every_kind.sh FOLDER`: a ledger with an event of every kind, its site, reports and films, to be looked at
# (`make pictures`). Takes some two minutes of processor time.
set -euo pipefail
studies="$(cd "$(dirname "$0")/../studies" && pwd)"
rm -rf "$1"
mkdir -p "$1"
cd "$1"
export PERCUSS_LEDGER=ledger PERCUSS_STUDIES="$studies" LOGNAME=engineer
newest() { percuss log --json --limit 0 --kind "$1" | python3 -c "import json, sys; print([e['id'] for e in json.load(sys.stdin) if e['study'] == '$2'][-1])"; }

design=$(percuss design linear-gaussian --n 256 --skip 1)
percuss run "$design" --shard 1/2 --jobs 1
percuss adopt
campaign=$(percuss run "$design")
surrogate=$(percuss surrogate "$campaign" --degree 1..2)
percuss sensitivity "$surrogate"
first=$(percuss calibrate "$surrogate")
second=$(percuss calibrate "$surrogate" --seed 2)
percuss compare "$first" "$second"
percuss filter "$campaign" --observations @last:observations --covariance constant --ess 0.2
percuss note "$first" "as in the report of May"

campaign=$(percuss design pounding-twin --n 64 --skip 1 --curves | percuss run -)
surrogate=$(percuss surrogate "$campaign")
curve=$(percuss surrogate "$campaign" --curves u2 --family chaos)
percuss sensitivity "$surrogate"
percuss sensitivity "$curve"
posterior=$(percuss calibrate "$surrogate" --block all)
prediction=$(percuss predict "$posterior" --verify 5 --curves "$curve")
percuss trust "$surrogate" --twins 30 --quick --block all
percuss advise "$posterior" --about gap --outer 400 --inner 1200 --accept advice
percuss export crate "$posterior" --to posterior.zip --licence CC-BY-4.0
percuss import crate posterior.zip

percuss design sliding-block --n 40 --curves | percuss run - | percuss region - --curve block_ux
percuss converge sliding-block
percuss check sliding-block
cp -r "$studies/sliding-block" moved
sed -i 's/^value = .*/value = 9/' moved/expected/*.toml
percuss check moved || true
cp -r "$studies/ishigami" failing
sed -i 's/^function = .*/function = "ishigami"\nfail_above = { x1 = 2.5 }/' failing/study.toml
rm -r failing/expected
percuss design failing --n 16 --skip 1 | percuss run - || true
wrong=$(percuss simulate sliding-block --set speed=2.4 --set mu=0.3 --set e=0.1)
percuss supersede "$wrong" --reason "another speed was meant"

validations=()
for model in linear cubic; do validations+=("$(percuss validate duffing-extrapolation --model "$model" || true)"); done
percuss compare "${validations[@]}"
campaign=$(percuss design fragility-row --sampler sobol --n 64 --skip 1 | percuss run -)
percuss fragility "$campaign" --case row --intensity intensity --output largest_drift_ratio_B \
  --state slight=0.005 --state moderate=0.01 --state severe=0.02 --hazard 0.02,2.5
for method in directional form; do percuss reliability four-branch --limit any --method "$method"; done

percuss simulate block-wall --case fast
percuss simulate pounding-row --case gap-60mm
percuss simulate pounding-frames --case kv
percuss simulate uncertain-linkage --case all
percuss simulate toyoura-quick --case hm-0.2
for study in block-wall pounding-row pounding-frames uncertain-linkage toyoura-quick; do
  percuss view "$(newest runs.completed "$study")" --to "film-$study.html"
done

percuss prune --older-than 0d --kind indices --reason "data plan 3.2" --no-keep-cited
percuss audit --record --rerun 1
percuss seal
for kind in prediction fragility filter reliability validation; do percuss report "@last:$kind" --to "report-$kind.html"; done
percuss site --to site

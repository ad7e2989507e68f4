#!/bin/bash
# A campaign on machines that share nothing, by ssh and rsync: each gets a copy of the ledger, runs one shard on it, and
# the copies are adopted. Give it again after a failure: what was run is not run again.
#
#     bash ssh.sh DESIGN HOST...
set -euo pipefail
design=$1
shift
n=$# k=0
for host in "$@"; do
    k=$((k + 1))
    (
        rsync -a ledger/ "$host:percuss-$design/ledger/"
        # shellcheck disable=SC2029
        ssh "$host" "cd percuss-$design && percuss run --shard $k/$n $design"
        rsync -a "$host:percuss-$design/ledger/" "from-$k/"
    ) &
done
for job in $(jobs -p); do wait "$job"; done
for k in $(seq "$n"); do percuss adopt --from "from-$k"; done
percuss run "$design"

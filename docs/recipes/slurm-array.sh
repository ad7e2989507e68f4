#!/bin/bash
# A campaign as a SLURM job array on a shared folder: one shard a task, joined when all are done.
#
#     design=$(percuss design studies/ishigami --n 256)
#     array=$(sbatch --parsable --array=1-4 slurm-array.sh "$design")
#     sbatch --dependency=afterok:"$array" --wrap "percuss adopt && percuss run $design"
#
#SBATCH --job-name=percuss
#SBATCH --time=02:00:00
#SBATCH --cpus-per-task=4
set -euo pipefail
percuss run --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --jobs "${SLURM_CPUS_PER_TASK:-1}" "$1"

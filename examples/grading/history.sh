#!/usr/bin/env bash
# history.sh FOLDER: build the repository of the example, always with the same commits: two on main,
# and one on run-a and run-b each.
set -euo pipefail
patches=$(cd "$(dirname "${BASH_SOURCE[0]}")/history" && pwd)

# Nothing of the user's git takes part.
unset $(git rev-parse --local-env-vars)
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_COMMITTER_NAME='Ada Example' GIT_COMMITTER_EMAIL=ada@example.com

git init --quiet "$1"
cd "$1"
git symbolic-ref HEAD refs/heads/main
git am --quiet --committer-date-is-author-date "$patches/main.patch"
for run in run-a run-b; do
  git checkout --quiet -b "$run" main
  git am --quiet --committer-date-is-author-date "$patches/$run.patch"
done

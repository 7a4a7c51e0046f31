#!/usr/bin/env bash
# Takes two runs of one case from "not computable" to CORRECT and to INCORRECT, in a temporary copy.
# `make demo-grading` runs it. It needs drive-trace, python3 and git, and no network.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cp -R "$here/case" "$here/judge.py" "$here/labels.csv" "$here/drive-trace.toml" .
cp "$here/run.txt" trace.jsonl
"$here/history.sh" shop

step() { printf '\n== %s\n' "$*"; }
# run CODE COMMAND: show a command and what it prints. It has to end with this exit code.
run() {
  local code=0
  printf '\n$ %s\n' "$2"
  bash -c "$2" 2>&1 || code=$?
  if [ "$code" -ne "$1" ]; then echo "exit $code, but $1 was expected" >&2; exit 1; fi
  if [ "$code" -ne 0 ]; then echo "exit $code, as it should"; fi
}

step 'Two runs did the same task, and nobody has graded them'
run 0 'drive-trace score trace.jsonl'
run 0 'git -C shop log --oneline --graph --all'

step 'A judge is worth what people found of it: their labels beside its verdicts'
run 0 'drive-trace calibrate labels.csv --model scripted-judge \
    --out drive-trace-calibration.json'

for each in a b; do
  id="orders-json-$each"
  step "Run $each: the tests are the mechanical gate"
  git -C shop checkout --quiet "run-$each"
  run 0 "drive-trace gate --trace-file trace.jsonl --project-run-id $id \\
    --component mechanical --cwd shop --run 'python3 -B -m unittest -q'"

  step "Run $each: somebody went through case/manual-qa.md, and found nothing"
  run 0 "drive-trace record --trace-file trace.jsonl --project-run-id $id --qa pass"

  step "Run $each: the judge reads the criteria and the diff"
  run 0 "drive-trace judge --trace-file trace.jsonl --project-run-id $id \\
    --acceptance case --repo shop --range main..run-$each \\
    --model scripted-judge --model-command 'python3 judge.py' --trust-config"
done

step 'One is CORRECT. The other passes its tests and QA, and is not what was meant'
run 1 'drive-trace score --require-correct trace.jsonl'

#!/bin/sh
# Evaluates the agent in any CI: `ci.sh main` sets the baseline, `ci.sh change` is held against it.
# The folder .assay has to be kept from the last run for main to the runs for changes, unless there is a baseline.json beside this file.
set -eu

case "${1:-}" in
  main | change) ;;
  *) echo "usage: ci.sh main|change" >&2; exit 2 ;;
esac
here=$(dirname "$0")
mkdir -p results

evaluate() {
  npx assay eval run "$here/suite.json" --command node --arg "$here/agent.mjs" "$@" \
    --agent-version "${COMMIT:-unknown}" --retry-errors 2 --fail-on error,finding --budget-usd 1 \
    --junit results/junit.xml --sarif results/evals.sarif --md results/summary.md --output results/evals.json
}

if [ "$1" = main ]; then
  evaluate
  npx assay eval baseline set main --latest --suite example.evals.refunds
elif [ -f "$here/baseline.json" ]; then
  evaluate --baseline "$here/baseline.json" --require-verdict
else
  evaluate --baseline main --require-verdict
fi

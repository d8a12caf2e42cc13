#!/usr/bin/env bash
# One piece of work by an agent. Everything comes by variables, so that no text of others is ever part of a script.
set -euo pipefail

# Outside of the checkout: what we write must not look like work.
output="$RUNNER_TEMP/agent-output"
mkdir -p "$output"
# Neither what we write nor the token of the job is for the agent's commands.
unset GITHUB_TOKEN GH_TOKEN ACTIONS_RUNTIME_TOKEN ACTIONS_ID_TOKEN_REQUEST_TOKEN ACTIONS_ID_TOKEN_REQUEST_URL

arguments=(--model "$AGENT_MODEL" --max-steps "$AGENT_STEPS" --no --format json)
[ -z "${AGENT_COST:-}" ] || arguments+=(--max-cost "$AGENT_COST")
[ -z "${AGENT_UNTIL:-}" ] || arguments+=(--until "$AGENT_UNTIL")
[ -z "${AGENT_SCHEMA:-}" ] || arguments+=(--json-schema "$AGENT_SCHEMA")
redact=()
[ -z "${AGENT_REDACT:-}" ] || redact=(--redact "$AGENT_REDACT")

before=$(git stash create || true)
before=${before:-HEAD}
code=0
printf '%s' "$AGENT_PROMPT" | tw run "${arguments[@]}" --output "$output/answer.txt" > "$output/events.jsonl" || code=$?
{
  echo "folder=$output"
  echo "exit-code=$code"
} >> "$GITHUB_OUTPUT"
# Wrong usage and a model that cannot be reached leave no session to tell of.
[ "$code" != 2 ] || exit "$code"

tw session evidence --json > "$output/evidence.json" || true
tw session summary --pull-request > "$output/summary.md"
tw session bundle -o "$output/session.bundle.json" "${redact[@]}"
tw session verify "$output/session.bundle.json"

git add --intent-to-add --all
git diff --binary "$before" > "$output/changes.patch"
[ -s "$output/changes.patch" ] && changed=true || changed=false
verdict=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["verdict"])' "$output/evidence.json")
{
  echo "changed=$changed"
  echo "verdict=$verdict"
} >> "$GITHUB_OUTPUT"
[ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$output/summary.md" >> "$GITHUB_STEP_SUMMARY"
exit "$code"

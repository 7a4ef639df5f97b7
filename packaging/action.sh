#!/usr/bin/env bash
# The step of action.yml: runs COMMAND of plimsoll with the conditions FAIL_IF, a line each, and adds its result to the
# summary of the job.
set -uo pipefail

read -ra arguments <<<"$COMMAND"
files=(--html "$NAME.html" --markdown "$NAME.md")
conditions=()
while IFS= read -r condition; do
  if [[ -n $condition ]]; then conditions+=(--fail-if "$condition"); fi
done <<<"$FAIL_IF"
if ((${#conditions[@]} > 0)); then files+=(--junit "$NAME.xml"); fi

status=0
rm -f "$NAME.xml"
# Before the names, which may end with those behind `--`.
plimsoll "${arguments[0]}" "${conditions[@]}" "${files[@]}" "${arguments[@]:1}" || status=$?
echo "exit-code=$status" >>"$GITHUB_OUTPUT"
if [[ -f $NAME.md ]]; then cat "$NAME.md" >>"$GITHUB_STEP_SUMMARY"; fi
if ((status == 3)) && [[ $UNDETERMINED == warn ]]; then
  # The reasons with their remedies, of the tests that are errors.
  grep -o '<error message="[^"]*"' "$NAME.xml" | sed 's/^<error message="//; s/"$//; s/&lt;/</g; s/&gt;/>/g; s/&quot;/"/g; s/&amp;/\&/g' |
    while IFS= read -r reason; do echo "::warning title=plimsoll::$reason"; done
  status=0
fi
exit "$status"

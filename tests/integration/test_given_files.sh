#!/usr/bin/env bash
# Files as people have them: with a byte order mark, with a Service beside the workload, from a pipe; and those that
# nobody can read, with the cause.
. "$(dirname "$0")/lib.sh"

state=docs/examples/three-regions/state.json
cat >"$work/pod.yaml" <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec: {containers: [{name: c}]}
YAML
cat >"$work/service.yaml" <<'YAML'
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}}
YAML
ask() { "$evenkeel" simulate --state "$state" -o json --pod "$@" 2>&1; }
plain=$(ask "$work/pod.yaml")
like "a plain file" "$plain" '^\{"filter"'

{ printf '\xef\xbb\xbf'; cat "$work/pod.yaml"; } >"$work/mark.yaml"
is "a byte order mark" "$(ask "$work/mark.yaml")" "$plain"
{ printf '\xef\xbb\xbf'; cat $state; } >"$work/state.yaml"
is "... before the state" "$("$evenkeel" simulate --state "$work/state.yaml" -o json --pod "$work/pod.yaml" 2>&1)" "$plain"
{ printf '\xef\xbb\xbf'; echo '{"apiVersion":"v1","kind":"List","items":[]}'; } >"$work/list.json"
is "... and before JSON" "$("$evenkeel" simulate --state "$state" --state "$work/list.json" -o json --pod "$work/pod.yaml" 2>&1)" "$plain"
iconv -t UTF-16 "$work/pod.yaml" >"$work/wide.yaml"
like "UTF-16 is named" "$(ask "$work/wide.yaml")" 'it is UTF-16: save it as UTF-8'

{ cat "$work/service.yaml"; echo ---; cat "$work/pod.yaml"; } >"$work/both.yaml"
is "a Service beside the pod" "$(ask "$work/both.yaml")" "$plain"
{ cat "$work/pod.yaml"; echo ---; cat "$work/pod.yaml"; } >"$work/two.yaml"
is "two pods" "$(ask "$work/two.yaml" | jq -c '[keys, (.answers[] | del(.subject))]')" "$(jq -c '[["answers"], ., .]' <<<"$plain")"
{ sed 's/containers/nodeSelector: {no: node}, containers/; s/name: web,/name: stuck,/' "$work/pod.yaml"; echo ---; cat "$work/pod.yaml"; } >"$work/two.yaml"
is "... one of which is Pending: the worst exit code" \
    "$("$evenkeel" simulate --state "$state" --pod "$work/two.yaml" --strict >"$work/out" 2>&1; echo $?)" 3
like "... each with its name" "$(cat "$work/out")" '^default/Pod/stuck:.*default/Pod/web:'
{ cat "$work/service.yaml"; echo ---; cat "$work/service.yaml"; } >"$work/none.yaml"
like "none" "$(ask "$work/none.yaml")" '2 documents, and none of them is a Pod or workload'

is "a pipe" "$(ask <(cat "$work/pod.yaml"))" "$plain"
is "... for the state, too" "$("$evenkeel" simulate --state <(cat $state) -o json --pod <(cat "$work/pod.yaml") 2>&1)" "$plain"

printf 'kind: Pod\n# {{ a comment }}\nspec:\n  replicas: {{ .Values.n }}\n' >"$work/template.yaml"
like "a template is named, with its line" "$(ask "$work/template.yaml")" "line 4, column 13: '..' begins a template, and it was not rendered: run 'helm template' first"
printf 'kind: Pod\nmetadata:\n  labels:\n    {{- toYaml .Values.labels | nindent 4 }}\nspec:\n' >"$work/template.yaml"
like "... of the line before, which it begins" "$(ask "$work/template.yaml")" "line 4, column 5: '..' begins a template"
printf 'kind: Pod\n{{- if .Values.x }}\nmetadata: {name: a}\n{{- end }}\n' >"$work/template.yaml"
like "... when the error is in the next line" "$(ask "$work/template.yaml")" "line 2, column 1: '..' begins a template"
printf 'kind: Pod\nmetadata:\n  annotations:\n    text: "{{ .Labels.pod }}"\n    b: c\n   d: e\n' >"$work/template.yaml"
like "a template in quotes is no cause" "$(ask "$work/template.yaml")" "line 6, column 4: did not find expected key"
finish_tests

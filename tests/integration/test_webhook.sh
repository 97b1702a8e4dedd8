#!/usr/bin/env bash
# The webhook listener over HTTPS, as an API server calls it: what is answered, policies that change
# while it runs, metrics, shutdown. Single answers, byte for byte, are tests/golden/pods.
. "$(dirname "$0")/lib.sh"

golden=tests/golden/pods
cp tests/golden/policies.yaml "$work/policies.yaml"
start_server --state "$example/state.json" "${webhook_options[@]}" --policy "$work/policies.yaml" \
    --state-poll-interval 50ms --shutdown-delay 0s

# ---- answers ----

keys() { # FILE: the topology keys of the constraints that the patch adds
    review pods <"$1" | jq -r '[.response.patch // "W10=" | @base64d | fromjson | .[].value |
        if type == "array" then .[] else . end | .topologyKey] | join(" ")'
}
both='topology.kubernetes.io/region topology.kubernetes.io/zone'
is "a pod is patched" "$(keys "$golden/deployment/request.json")" "$both"

status() { # with the body on standard input
    review pods --output /dev/null --write-out '%{http_code}'
}
as_sent() { # TYPE: with what API servers put around it
    fetch --output /dev/null --write-out '%{http_code}' --header "Content-Type: $1" \
        --header 'Accept: application/json, */*' --data-binary @"$golden/deployment/request.json" \
        "https://$webhook/webhooks/v1/pods?timeout=10s"
}
is "as API servers call" "$(as_sent application/json)" 200
is "another type of body" "$(as_sent text/plain)" 415
is "a method that is none" "$(fetch --output /dev/null --write-out '%{http_code}' "https://$webhook/webhooks/v1/pods")" 405
is "a path that is none" "$(fetch --output /dev/null --write-out '%{http_code}' "https://$webhook/extender/v1/filter")" 404
is "the extender has no reviews" "$(fetch --output /dev/null --write-out '%{http_code}' "https://$extender/webhooks/v1/pods")" 404
is "no JSON at all" "$(echo 'uid: 5' | review pods)" \
    'AdmissionReview: expected an object, found byte 0x75, at byte 0'
is "... is malformed" "$(echo 'uid: 5' | status)" 400
is "an empty body is malformed" "$(status </dev/null)" 400
is "too long a body" "$({ printf '{"a":"'; head -c 16M /dev/zero | tr '\0' x; echo '"}'; } | status)" 413

# ---- policies that change ----

from=$(log_end)
sed 's/tier: web/tier: none/' tests/golden/policies.yaml >"$work/new"
mv "$work/new" "$work/policies.yaml"
check "a change is noticed" wait_log 'msg="policies read" policies=3 broken=1' "$from"
is "... and in force" "$(keys "$golden/deployment/request.json")" ''
from=$(log_end)
sed 's/spread:/spreads:/' tests/golden/policies.yaml >"$work/new"
mv "$work/new" "$work/policies.yaml"
check "a bad file is refused" wait_log 'level=error msg="policies refused; those read before stay in force".*spec.pods.spreads: unknown field' "$from"
is "... and what was there stays" "$(review pods <"$golden/deployment/request.json" | jq -c .response.allowed)" true
from=$(log_end)
cp tests/golden/policies.yaml "$work/new"
mv "$work/new" "$work/policies.yaml"
check "a good one is read" wait_log 'msg="policies read"' "$from"
is "... and in force again" "$(keys "$golden/deployment/request.json")" "$both"
from=$(log_end)
kill -HUP "$server"
check "SIGHUP reads them at once" wait_log 'msg="policies read"' "$from"

# ---- metrics ----

metric() { ops metrics | sed -nE "s/^$1 //p"; }
counted() { metric "evenkeel_admission_requests_total\\{verb=\"pods\",result=\"$1\"\\}"; }
is "patched pods are counted" "$(counted patched)" 3
is "... and unchanged ones" "$(counted unchanged)" 2
is "... and malformed reviews" "$(counted refused)" 3
review pods <"$golden/unreadable/request.json" >"$work/body"
is "... and pods with a warning" "$(counted failed)" 1
fate() { metric "evenkeel_spread_constraints_total\\{mode=\"Enforce\",result=\"$1\",reason=\"$2\"\\}"; }
is "constraints that were added are counted" "$(fate injected "") $(fate left_out NoNodeHasKey)" "6 0"
sed 's/kubernetes.io.zone/kubernetes.io\/zones/' tests/golden/policies.yaml >"$work/new"
from=$(log_end)
mv "$work/new" "$work/policies.yaml"
check "a misspelt key is read" wait_log 'msg="policies read"' "$from"
is "... left out" "$(keys "$golden/deployment/request.json")" 'topology.kubernetes.io/region'
is "... and counted" "$(fate injected "") $(fate left_out NoNodeHasKey)" "7 1"
served() { ops metrics | sed -nE "s/^evenkeel_spread_constraints_total\\{.*$1=\"([^\"]+)\".*/\1/p" | sort -u; }
is "all that may become of a constraint" "$(served result | paste -s -d ' ')" \
    'injected left_out own renewed softened'
is "... with reasons that the guide explains" \
    "$(served reason | while read -r reason; do grep -q "\`$reason\`" docs/guides/pods.md || echo "$reason"; done)" ''
is "how long answers take" "$(metric 'evenkeel_http_request_duration_seconds_count\{listener="webhook",verb="pods"\}' | grep -c '^[1-9]')" 1
is "policies that cannot work" "$(metric 'evenkeel_policies\{works="no"\}')" 1
is "bad policy files" "$(metric 'evenkeel_policy_reads_total\{result="bad"\}')" 1

# Under the names that dashboards know.
is "reviews under another name" \
    "$(metric 'controller_runtime_webhook_requests_total\{webhook="\/webhooks\/v1\/pods",code="200"\}')" \
    "$(metric 'evenkeel_http_requests_total\{listener="webhook",verb="pods",code="200"\}')"
is "... and how long they took" \
    "$(metric 'controller_runtime_webhook_latency_seconds_(bucket|sum|count)\{webhook="\/webhooks\/v1\/pods".*')" \
    "$(metric 'evenkeel_http_request_duration_seconds_(bucket|sum|count)\{listener="webhook",verb="pods".*')"
is "... of which none goes on" "$(metric 'controller_runtime_webhook_requests_in_flight\{.*' | sort -u)" 0
is "what /readyz looks at" "$(metric 'kubernetes_healthcheck\{name="[a-z ]*",type="readyz"\}' | sort -u)" 1

# Metrics that only an API server brings are in the binary's strings; the cache's are put together.
ours='(evenkeel_|controller_runtime_|workqueue_|rest_client_|leader_election_|certwatcher_|kubernetes_healthchec)[a-z_]*[a-z]'
# shellcheck disable=SC2016  # Markdown's `
documented() { sed -nE 's/^\| `([a-z_]+)` \| ([a-z]+) \|.*/\1 \2/p' docs/metrics.md | sort; }
is "every metric that is served is documented, with its kind" \
    "$(ops metrics | sed -nE "s/^# TYPE (${ours} .*)/\1/p" | sort | comm -23 - <(documented))" ''
is "... and every one that could be" \
    "$(grep -aoE "$ours" "$evenkeel" | sort -u | comm -23 - <(documented | cut -d ' ' -f 1))" ''
is "... and nothing else is" \
    "$({ ops metrics | sed -nE "s/^# TYPE (${ours}) .*/\1/p"; grep -aoE "$ours" "$evenkeel"; } |
        sort -u | comm -13 - <(documented | cut -d ' ' -f 1))" ''

# ---- mistakes ----

said() { # jq to change the pod of a review
    jq ".request.object |= ($1)" "$golden/deployment/request.json" | review pods |
        jq -c '.response | [.allowed, (.warnings // [] | map(select(startswith("evenkeel: ") | not)))]'
}
own() { # CONSTRAINT-JSON
    echo ".spec.topologySpreadConstraints = [{maxSkew: 1, topologyKey: \"rack\", whenUnsatisfiable: \"DoNotSchedule\"} + $1]"
}
is "a pod without mistakes" "$(said .)" '[true,[]]'
is "a constraint that selects nobody, with path and remedy, and nothing is refused" "$(said "$(own '{}')")" \
    '[true,["spec.topologySpreadConstraints[0].labelSelector: the constraint has no labelSelector: it counts no pods, so it spreads nothing. Add a labelSelector that selects the pod'\''s own labels"]]'
is "a value that an API server refuses" "$(said '.spec.tolerations = [{key: "k", operator: "Exist"}]' | jq -r '.[1][0]')" \
    "spec.tolerations[0].operator: 'Exist' is no operator of a toleration. Write Exists"
is "at most eight, of at most 256 bytes" \
    "$(said ".spec.tolerations = [range(20) | {key: \"k\", operator: (\"é\" * 200)}]" | jq -c '.[1] | [length, (map(utf8bytelength) | max <= 256)]')" '[8,true]'
is "a pod that has its place gets none" "$(said "$(own '{}') | .spec.nodeName = \"n1\"")" '[true,[]]'

# ---- the end ----

check "no crash" no_crash
stop_server TERM
is "it ends well" "$exit_code" 0

# ---- what keeps it from starting ----

broken() { # NAME PATTERN OPTION...
    local code=0 out
    out=$(timeout "$PATIENCE" "$evenkeel" serve --state "$example/state.json" --extender-listen 127.0.0.1:0 --ops-listen 127.0.0.1:0 \
        --extender-cert-file "$certs/tls.crt" --extender-key-file "$certs/tls.key" "${@:3}" 2>&1) || code=$?
    if [ "$code" = 1 ]; then like "$1" "$out" "$2"; else fail "$1" "exit code $code" "$out"; fi
}
broken "no certificate" 'webhook.certFile: API servers call HTTPS only' --webhook-listen 127.0.0.1:0
: >"$work/bad.yaml"
broken "a bad policy" "policy file '$work/bad.yaml': no object in it" "${webhook_options[@]}" --policy "$work/bad.yaml"
start_server --state "$example/state.json"
is "without an address it is off" "$webhook" off
stop_server

# ---- alone ----

start_bare_server --extender-listen 0 --state "$example/state.json" "${webhook_options[@]}" --policy "$example/policy.yaml"
is "the extender can be off" "$extender" off
is "... and its certificate is not needed to be ready" "$(ops readyz | head -n 1)" '[+] state: read'
is "... and pods are admitted" "$(review pods <"$golden/deployment/request.json" | jq -c '[.response.allowed, (.response.patch | length > 0)]')" '[true,true]'
stop_server
broken "no door at all" 'extender.listen: neither the extender nor the webhook listens' --extender-listen 0

finish_tests

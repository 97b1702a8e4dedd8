#!/usr/bin/env bash
# Alerts by their real faults: daemons of which something is wrong, scraped by a real Prometheus with the
# chart's rules, and the first command of the runbook names the cause. In the rules `for` is 60 times
# shorter: 5m are 5 s. And each query of the dashboard has an answer.
#
# There is no cluster here: alerts whose fault is an API server's (EvenkeelWebhookFailOpen, EvenkeelPatchesRefused), and
# those whose runbook reads objects of one, are in tests/e2e/kube/alerts_test.go. Here kubectl's `logs` reads a daemon's log, and `exec` runs the command that it is given.
. "$(dirname "$0")/../integration/lib.sh"
helm=${HELM:-build/tools/helm}
guide=docs/guides/alerts.md
PATIENCE=60

# ---- daemons ----

# Starts another daemon, whose log is $work/NAME.log, and sets addresses as start_server does.
start_daemon() { # NAME OPTION...
    server=
    start_bare_server "${@:2}"
    children+=("$server")
    pids[$1]=$server
    ln -f "$log" "$work/$1.log"
}
declare -A pids=()

# Of a workload that could be even all pods are in one of two zones.
state_of() { # NODES
    jq -n --argjson nodes "$1" '
        def node: {kind: "Node", apiVersion: "v1", metadata: {name: "node-\(.)",
            labels: {"kubernetes.io/hostname": "node-\(.)", "topology.kubernetes.io/zone": "z\(. % 2)"}}};
        def pod: {kind: "Pod", apiVersion: "v1", metadata: {name: "web-\(.)", namespace: "shop", uid: "u\(.)", labels: {app: "web"},
            ownerReferences: [{apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid: "w", controller: true}]},
            spec: {nodeName: "node-0", containers: []}, status: {phase: "Running"}};
        # of a StatefulSet whose claim is in a lost zone
        def waiting: {kind: "Pod", apiVersion: "v1", metadata: {name: "db-0", namespace: "shop", uid: "d",
            creationTimestamp: "2026-01-01T00:00:00Z",
            ownerReferences: [{apiVersion: "apps/v1", kind: "StatefulSet", name: "db", uid: "s", controller: true}]},
            spec: {containers: [], volumes: [{name: "d", persistentVolumeClaim: {claimName: "d0"}}]}, status: {phase: "Pending"}};
        {kind: "List", apiVersion: "v1", items: [(range($nodes) | node), (range(4) | pod), waiting]}'
}
state_of 2 >"$work/state.json"
state_of 2000 >"$work/wide.json"
cp tests/golden/policies.yaml "$work/policies.yaml"
"$evenkeel" certs init --dir "$work/short" --days 10 >/dev/null

start_daemon webhook --extender-listen 0 --state "$work/state.json" --policy "$work/policies.yaml" --webhook-listen 127.0.0.1:0 \
    --webhook-cert-file "$work/short/tls.crt" --webhook-key-file "$work/short/tls.key"
webhook_ops=$ops webhook_at=$webhook
start_daemon extender --state "$work/wide.json" --extender-cert-file "$certs/tls.crt" --extender-key-file "$certs/tls.key"
extender_ops=$ops extender_at=$extender

# An API server that is not there: a port that nobody listens at any more.
cat >"$work/kubeconfig" <<EOF
{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],
 clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}], users: [{name: u, user: {}}]}
EOF
cat >"$work/lonely.yaml" <<EOF
apiVersion: evenkeel.io/v1alpha1
kind: EvenkeelConfiguration
kubernetes: {kubeconfig: $work/kubeconfig}
leaderElection: {enabled: true, leaseName: evenkeel-webhook, leaseNamespace: evenkeel}
extender: {listen: "0"}
webhook:
  listen: "127.0.0.1:0"
  certificates: {mode: Secret, secretName: filled, secretNamespace: evenkeel, configurations: [evenkeel.evenkeel]}
EOF
start_daemon lonely --extender-listen 0 --config "$work/lonely.yaml"
lonely_ops=$ops
start_daemon estimator --extender-listen 0 --state "$work/state.json" --estimator-listen 127.0.0.1:0 --estimator-member here \
    --estimator-member "lost=$work/kubeconfig"
estimator_ops=$ops
estimator_at=$(sed -nE 's/.*msg=serving.*estimator=([^ ]*).*/\1/p' "$log")

# ---- Prometheus ----

"$helm" template evenkeel charts/evenkeel --namespace evenkeel --kube-version 1.36.0 \
    --values tests/packaging/values/monitoring.yaml --show-only templates/monitoring.yaml 2>/dev/null |
    awk '/^---/ { rule = groups = 0 } /^kind: PrometheusRule/ { rule = 1 } rule && /^  groups:/ { groups = 1 }
         groups { print substr($0, 3) }' | sed -E 's/^( *for: [0-9]+)m$/\1s/' >"$work/rules.yaml"
is "all waits are shorter" "$(grep -cE '^ *for: [0-9]+s$' "$work/rules.yaml")" "$(grep -c 'alert:' "$work/rules.yaml")"
target() { # JOB POD ADDRESS
    printf -- '- {targets: ["%s"], labels: {job: %s, namespace: evenkeel, pod: %s}}\n' "$3" "$1" "$2"
}
{
    target evenkeel-webhook a "$webhook_ops"
    target evenkeel-webhook b "$lonely_ops"
    target evenkeel-extender c "$extender_ops"
    target evenkeel-estimator d "$estimator_ops"
} >"$work/targets.yaml"
cat >"$work/prometheus.yaml" <<EOF
global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
rule_files: [rules.yaml]
scrape_configs:
- job_name: pods
  honor_labels: true
  file_sd_configs: [{files: [targets.yaml]}]
EOF
prometheus --config.file="$work/prometheus.yaml" --storage.tsdb.path="$work/tsdb" --web.listen-address=127.0.0.1:0 \
    --log.format=logfmt 2>"$work/prometheus.log" &
children+=($!)
listens() { address=$(sed -nE 's/.*msg="Listening on" address=([0-9.:]*).*/\1/p' "$work/prometheus.log") && [ -n "$address" ]; }
check "Prometheus runs" await listens
listens
ask() { # QUERY: the series of its answer, as JSON
    curl -fs --max-time 10 --data-urlencode "query=$1" "http://$address/api/v1/query" | jq -c '.data.result[].metric'
}
firing() { # ALERT LABELS
    [ -n "$(ask "ALERTS{alertstate=\"firing\",alertname=\"$1\",$2}")" ]
}
fires() { # ALERT LABELS
    check "$1 fires" await firing "$1" "$2"
}

# The first command of an alert's runbook, with what stands for a cluster.
kubectl() {
    local line="$*"
    case $line in
    *" logs "*webhook*) cat "$work/${logs_of:-webhook}.log" ;;
    *" logs "*extender*) cat "$work/extender.log" ;;
    *" logs "*estimator*) cat "$work/estimator.log" ;;
    *" exec "*" -- "*)
        # shellcheck disable=SC2086  # words
        set -- ${line#* -- }
        "$evenkeel" "${@:2}" --server "http://$webhook_ops"
        ;;
    *) return 1 ;;
    esac
}
first_command() {
    awk -v alert="## $1" '$0 == alert { mine = 1; next } /^## / { mine = 0 } mine && /^```sh/ { shown = 1; next }
        /^```/ { if (shown) exit } shown' $guide
}
names() { # ALERT PATTERN
    like "... and its runbook's first command names the cause" "$(eval "$(first_command "$1")" 2>&1 || true)" "$2"
}

# ---- faults ----

# Reviews that fail, and requests that are errors, again and again until the end.
filter_request "$example/pod.json" "$work/wide.json" >"$work/request.json"
jq '.Pod.spec.topologySpreadConstraints = [{maxSkew: 0, topologyKey: "x", whenUnsatisfiable: "DoNotSchedule"}]' \
    "$work/request.json" >"$work/bad.json"
# So many constraints that the answer would take too long.
jq '.Pod.spec.topologySpreadConstraints = [range(800) | {maxSkew: 1, topologyKey: "topology.kubernetes.io/zone",
    whenUnsatisfiable: "DoNotSchedule", labelSelector: {matchLabels: {"a\(.)": "b"}}}]' "$work/request.json" >"$work/long.json"
trouble() {
    while true; do
        webhook=$webhook_at
        review pods --cacert "$work/short/ca.crt" <tests/golden/pods/unreadable/request.json
        extender=$extender_at
        call filter <"$work/bad.json"
        call filter <"$work/long.json"
    done
}
trouble >"$work/answers" 2>&1 &
children+=($!)
# An API server, or a network, that takes seconds for what it asks: the wait is the pod's, whoever makes it.
jq -c '.request.object.metadata.annotations.long = "x" * 300000' tests/golden/pods/deployment/request.json >"$work/slow.json"
slowness() {
    while true; do
        webhook=$webhook_at
        review pods --cacert "$work/short/ca.crt" --limit-rate 100k <"$work/slow.json"
    done
}
slowness >"$work/slow" 2>&1 &
children+=($!)
# A caller that opens more connections than an address may have, again and again.
crowd() {
    local i connection
    while true; do
        (
            ulimit -n 2048
            for ((i = 0; i < 1010; i++)); do
                # shellcheck disable=SC2034  # left open
                exec {connection}<>"/dev/tcp/${estimator_at%:*}/${estimator_at##*:}"
            done
        )
        sleep 1
    done
}
crowd >"$work/crowd" 2>&1 &
children+=($!)

# ---- alerts ----

fires EvenkeelReviewsFailed 'job="evenkeel-webhook"'
names EvenkeelReviewsFailed 'maxSkew'
fires EvenkeelWebhookSlow 'job="evenkeel-webhook"'
names EvenkeelWebhookSlow 'a request was slow.*cause=receiving .*listener=webhook .*peer=127.0.0.1:'
fires EvenkeelExtenderErrors 'job="evenkeel-extender"'
names EvenkeelExtenderErrors 'maxSkew'
fires EvenkeelNoOpinion 'job="evenkeel-extender",reason="steps"'
names EvenkeelNoOpinion 'no opinion given.*steps'
fires EvenkeelDataTooOld 'job="evenkeel-webhook",resource="pods"'
logs_of=lonely names EvenkeelDataTooOld 'the API server does not answer.*[Cc]onnect'
fires EvenkeelWebhookConfigurationWrong 'job="evenkeel-webhook",configuration="evenkeel.evenkeel"'
logs_of=lonely names EvenkeelWebhookConfigurationWrong 'the API server does not answer.*[Cc]onnect'
fires EvenkeelMembersNotSynced 'job="evenkeel-estimator",state="syncing"'
names EvenkeelMembersNotSynced 'role=lost .*[Cc]onnect'
is "... of the member that is there it says nothing" "$(ask 'ALERTS{alertname="EvenkeelMembersNotSynced",state!="syncing"}')" ''
fires EvenkeelConnectionsTurnedAway 'job="evenkeel-estimator",listener="estimator"'
names EvenkeelConnectionsTurnedAway 'connection closed to make room for another.*listener=estimator peer=127.0.0.1'
fires EvenkeelNoLeader 'name=~".*evenkeel-webhook.*"'
fires EvenkeelCertificateExpires 'listener="webhook"'
fires EvenkeelWorkloadsUneven 'topology_key="topology.kubernetes.io/zone"'
names EvenkeelWorkloadsUneven 'shop +web .*uneven'
fires EvenkeelPodsPending 'severity="warning"'
names EvenkeelPodsPending 'shop +db +StatefulSet +0 +1 '
# ---- the dashboard ----

unanswered() {
    local query
    # shellcheck disable=SC2016  # a variable of Grafana
    jq -r '.panels[].targets[].expr' charts/evenkeel/files/dashboard.json | sed 's/\$job/.*/' | while read -r query; do
        [ -n "$(ask "$query" | head -n 1)" ] || echo "$query"
    done
}
is "each query of the dashboard has an answer" "$(unanswered)" ''

# ---- a replica that dies ----

is "a door with all replicas is not silent" "$(ask 'ALERTS{alertname="EvenkeelReplicaSilent",job="evenkeel-webhook"}')" ''
kill -KILL "${pids[lonely]}"
wait "${pids[lonely]}" 2>/dev/null || true
fires EvenkeelReplicaSilent 'job="evenkeel-webhook"'

finish_tests

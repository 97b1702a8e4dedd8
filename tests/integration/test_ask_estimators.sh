#!/usr/bin/env bash
# POST /clusters/v1/VERB about a binding, with karmada.estimators.mode Accurate: the estimator of one of Karmada's clusters is
# another Evenkeel. It answers, is slow, is gone, and comes back.
. "$(dirname "$0")/lib.sh"

fleet=docs/examples/fleet
# Three cores are free in m4; its Cluster's summary has room for 7.
jq -n '{apiVersion: "v1", kind: "Node", metadata: {name: "n"}, status: {allocatable: {cpu: "3", memory: "32Gi", pods: "110"}}}' >"$work/member.json"
start_bare_server --extender-listen 0 --state "$work/member.json" --estimator-listen 127.0.0.1:0 --estimator-member m4 --shutdown-delay 0s
address=$(sed -nE 's/.*msg=serving.*estimator=([^ ]*).*/\1/p' "$log")
estimator=$server estimator_ops=$ops
children+=("$estimator")

start_asking() { # OPTION...
    start_server --state $fleet/karmada.yaml --fleet-clusters --karmada-estimators-mode Accurate --karmada-estimators-timeout 2s \
        --karmada-estimators-address "m4=$address" --karmada-estimators-port 1 --shutdown-delay 0s "$@"
}
binding='{"apiVersion":"work.karmada.io/v1alpha2","kind":"ResourceBinding","metadata":{"name":"web-deployment","namespace":"shop"},"spec":{
    "resource":{"apiVersion":"apps/v1","kind":"Deployment","namespace":"shop","name":"web","uid":"5f0f1b3a"},"replicas":10,
    "replicaRequirements":{"resourceRequest":{"cpu":"1","memory":"2Gi"}},"clusters":[{"name":"m3","replicas":4}],
    "placement":{"clusterAffinity":{"labelSelector":{"matchLabels":{"stage":"prod"}}},"spreadConstraints":[
        {"spreadByField":"provider","minGroups":2,"maxGroups":2},{"spreadByField":"region","minGroups":2,"maxGroups":2},
        {"spreadByField":"cluster","minGroups":2,"maxGroups":3}],
      "replicaScheduling":{"replicaSchedulingType":"Divided","replicaDivisionPreference":"Weighted","weightPreference":{"dynamicWeight":"AvailableReplicas"}}}}}'
ask() { # VERB [JQ that changes the question]
    jq -c "{binding: .} | ${2:-.}" <<<"$binding" | fetch --header 'Content-Type: application/json' --data-binary @- "https://$extender/clusters/v1/$1"
}
known() { [ "$(ask estimate | jq .by.accurate.m4)" = "${1:-3}" ]; }
asked() { ops_of "$estimator_ops" | sed -nE 's/^evenkeel_estimator_requests_total\{method="MaxAvailableReplicas",result="ok"\} //p'; }
ops_of() { curl --silent --max-time "$PATIENCE" "http://$1/metrics"; }

# ---- it answers ----

start_asking
check "the estimator is connected" await known
is "the least of those that know" "$(ask estimate | jq -c '[.replicas.m4, .by.summary.m4, .by.accurate.m4, .replicas.m1, .by.accurate.m1]')" '[3,7,3,10,null]'
ask select >"$work/answer"
is "select shows it" "$(jq -c .available.m4 "$work/answer")" '{"summary":7,"models":null,"accurate":3,"allocatable":3,"available":3}'
is "... and others are not known" "$(jq -c .available.m3.accurate "$work/answer")" null
# 6 replicas are new, and divided by what is free, 6 and 3.
is "assign goes by it" "$(ask assign | jq -c .clusters)" '[{"name":"m3","replicas":8},{"name":"m4","replicas":2}]'
before=$(asked)
ask estimate '.binding.spec.replicas = 0' >/dev/null
ask estimate '.clusterNames = ["m3"]' >/dev/null
ask estimate '.binding.spec.placement.clusterAffinity = {clusterNames: ["m1"]}' >/dev/null
ask estimate '.binding.spec.resource.kind = "Job"' >/dev/null
ask filter >/dev/null
ask prioritize >/dev/null
is "nobody is asked about what does not depend on it" "$(asked)" "$before"
ask estimate '.binding.spec.placement |= (del(.clusterAffinity) | .clusterAffinities = [{affinityName: "a", clusterNames: ["m1"]}, {affinityName: "b", clusterNames: ["m4"]}])' >/dev/null
is "... but about the clusters of every term that may be tried" "$(asked)" $((before + 1))
is "a name that no header can have" "$(ask estimate '.binding.spec.resource.name = "w\u00e9b\n"' | jq .by.accurate.m4)" 3
is "a state of its own is a question of its own" \
    "$(ask estimate '.state = {apiVersion: "v1", kind: "List", items: [{apiVersion: "cluster.karmada.io/v1alpha1", kind: "Cluster", metadata: {name: "m4", labels: {stage: "prod"}},
        spec: {provider: "P2", region: "R3"}, status: {apiEnablements: [{groupVersion: "apps/v1", resources: [{kind: "Deployment"}]}]}}]}' | jq -c '.by.accurate')" '{"m4":null}'
jq -c '{binding: ., clusterNames: (["m3", "m4"] + [range(40000) | "other-\(.)"])}' <<<"$binding" >"$work/large"
is "a large question" "$(fetch --header 'Content-Type: application/json' --data-binary "@$work/large" "https://$extender/clusters/v1/estimate" | jq -c .by.accurate)" \
    '{"m3":null,"m4":3}'

is "what is known is counted" "$(metric 'evenkeel_asked_estimators_total{result="known"}')" "$(asked)"
like "... and what is not" "$(metric 'evenkeel_asked_estimators_total{result="unknown"}')" '^[1-9]'

# ---- it does not ----

kill -STOP "$estimator"
began=$(now_ms)
is "one that is slow is not known" "$(ask estimate | jq -c '[.replicas.m4, .by.accurate.m4]')" '[7,null]'
took=$(($(now_ms) - began))
at_most "... after the timeout" "$took" 6000
at_most "... and not before" 1900 "$took"
is "... nor for a large question" \
    "$(fetch --header 'Content-Type: application/json' --data-binary "@$work/large" "https://$extender/clusters/v1/estimate" | jq -c .by.accurate)" '{"m3":null,"m4":null}'
ask estimate >"$work/late" &
late=$!
began=$(now_ms)
is "nobody waits meanwhile" "$(ask filter | jq -r .error)" ""
at_most "... not for the timeout" $(($(now_ms) - began)) 1800
wait "$late"
ask estimate >"$work/late" 2>"$work/late-error" &
late=$!
in_flight() { [ "$(metric 'evenkeel_http_requests_in_flight{listener="extender"}')" = "$1" ]; }
check "a question is under way" await in_flight 1
stop_server INT
is "it stops in good order while estimators are waited for" "$exit_code" 0
check "... without a crash" no_crash
wait "$late" || true
kill -CONT "$estimator"
start_asking
check "it is there again" await known
kill -KILL "$estimator"
wait "$estimator" 2>/dev/null || true
children=()
check "one that is gone is not known" await known null
began=$(now_ms)
is "the decision is made with what is known" "$(ask assign | jq -c .clusters)" '[{"name":"m3","replicas":7},{"name":"m4","replicas":3}]'
at_most "... at once" $(($(now_ms) - began)) 1800
check "without a crash" no_crash
stop_server INT
is "it stops in good order" "$exit_code" 0

# ---- TLS ----

"$evenkeel" certs init --dir "$work/other-ca" >/dev/null
start_bare_server --extender-listen 0 --state "$work/member.json" --estimator-listen 127.0.0.1:0 --estimator-member m4 --shutdown-delay 0s \
    --estimator-cert-file "$certs/tls.crt" --estimator-key-file "$certs/tls.key" --estimator-client-ca-file "$certs/ca.crt"
address=$(sed -nE 's/.*msg=serving.*estimator=([^ ]*).*/\1/p' "$log")
children+=("$server")
shown=$work/shown
mkdir "$shown"
show() { # FOLDER FILE...: as a rotation does, each file at once
    local file
    for file in "${@:2}"; do
        cp "$1/$file" "$shown/new" && mv "$shown/new" "$shown/$file"
    done
}
show "$work/other-ca" ca.crt client.crt client.key
start_asking --karmada-estimators-ca-file "$shown/ca.crt" --karmada-estimators-cert-file "$shown/client.crt" --karmada-estimators-key-file "$shown/client.key"
check "a certificate of another CA is refused" wait_log 'no CA of the CA file has signed it'
is "... and what it would say is not known" "$(ask estimate | jq -c '[.replicas.m4, .by.accurate.m4]')" '[7,null]'
show "$certs" ca.crt
check "another CA file is used without a restart; ours is refused" wait_log "does not accept the client's certificate"
is "... and not known" "$(ask estimate | jq -c .by.accurate.m4)" null
show "$certs" client.crt client.key
check "with another certificate it is connected" await known
check "... which is said" wait_log 'connected again'
is "... and each failure was said once" "$(grep -c 'is not connected.* cluster=m4' "$log")" 2
stop_server INT
start_asking --karmada-estimators-ca-file "$certs/ca.crt"
check "without a certificate it is refused" wait_log 'the server wants a client certificate'
is "... and not known" "$(ask estimate | jq -c .by.accurate.m4)" null
stop_server INT
start_asking
is "nor in plaintext" "$(ask estimate | jq -c .by.accurate.m4)" null
stop_server INT
check "without a crash" no_crash

# ---- clusters from files, and members from a Karmada that is not there ----

cat >"$work/nobody" <<'END'
apiVersion: v1
kind: Config
clusters: [{name: nobody, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: nobody, context: {cluster: nobody, user: nobody}}]
users: [{name: nobody, user: {}}]
current-context: nobody
END
start_server --state $fleet/karmada.yaml --fleet-clusters --karmada-kubeconfig "$work/nobody" --estimator-from-karmada \
    --estimator-listen 127.0.0.1:0 --shutdown-delay 0s
is "the files' clusters are known" "$(ask estimate | jq -c .by.summary.m4)" 7
stop_server INT
check "without a crash" no_crash

# ---- what does not go together ----

refused() { # WORDS OPTION...
    local code=0 out
    out=$("$evenkeel" serve --insecure-extender --extender-listen 127.0.0.1:0 --ops-listen 0 --karmada-estimators-mode Accurate "${@:2}" 2>&1) || code=$?
    echo "$code: $out"
    [ "$code" = 1 ] && [[ $out == *"$1"* ]]
}
check "an estimator twice" refused "'m4' is there twice" --state $fleet/karmada.yaml --fleet-clusters \
    --karmada-estimators-address m4=127.0.0.1:1 --karmada-estimators-address m4=127.0.0.1:2
check "no clusters are known" refused 'no estimator would ever be asked' --state $fleet/karmada.yaml
finish_tests

#!/usr/bin/env bash
# Where a Placement should be: `evenkeel simulate --placement`, and the same questions over HTTP.
. "$(dirname "$0")/lib.sh"

fleet=docs/examples/fleet
now=2026-01-02T03:04:05Z
ask() { "$evenkeel" simulate --state $fleet/hub.yaml --now $now "$@"; }

# ---- a command line ----

ask --placement $fleet/web.yaml -o json >"$work/web"
# By hand: a region each first (east-a1 is a member, and first by name of the equal), then zones within them; west-a2 is tainted.
is "regions first, then zones" "$(jq -c '[.selected, .unscheduled]' "$work/web")" '[["east-a1","hangzhou-e1","west-a1","east-b1"],0]'
is "... why the tainted one is not" "$(jq -c '.filter["west-a2"]' "$work/web")" \
    '{"verdict":"TaintToleration","reason":"taint cluster.open-cluster-management.io/unreachable:NoSelect is not tolerated"}'
is "... what would move" "$(jq -c .moves "$work/web")" '{"add":["east-b1","hangzhou-e1","west-a1"],"remove":["east-a2"]}'
is "... how even it is" "$(jq -c '[.terms[].skew, .spreadSatisfied.status]' "$work/web")" '[1,1,"True"]'
is "... and in which sets it looked" "$(jq -c '[.eligibleSets, (.available | length), .current]' "$work/web")" '[["prod"],7,["east-a1","east-a2"]]'
is "rounds are there when asked for" "$(ask --placement $fleet/web.yaml --rounds -o json | jq -c '[.rounds[].picked]')" \
    '["east-a1","hangzhou-e1","west-a1","east-b1"]'
is "... and only then" "$(jq 'has("rounds")' "$work/web")" false
ask --placement $fleet/ranked.yaml -o json >"$work/ranked"
is "by scores: cpuratio" "$(jq -c '[.selected, .prioritizers[0].name, .sum["east-a1"]]' "$work/ranked")" \
    '[["east-a1","east-b1","east-a2"],"AddOn/default/cpuratio",88]'
is "after they end they count 0, which is said" \
    "$(ask --now 2026-01-04T00:00:00Z --placement $fleet/ranked.yaml -o json | jq -c '[.sum["east-a1"], (.warnings | length), .warnings[0]]')" \
    '[0,6,"AddOnPlacementScores east-a1/default expired"]'
is "a policy spreads Placements without terms" \
    "$(ask --policy $fleet/policy.yaml --placement $fleet/ranked.yaml -o json | jq -c '[.policy, .selected]')" \
    '["two-clouds",["east-a1","hangzhou-e1","east-b1"]]'
table=$(ask --placement $fleet/web.yaml)
like "the table has clusters, moves, domains and conditions" "$table" 'east-b1.*us-east-1b.*PlacementSatisfied.*True'
sed 's/numberOfClusters: 4/numberOfClusters: -1/' $fleet/web.yaml >"$work/negative.yaml"
refused() { # STATUS WORDS OPTION...
    local code=0 out
    out=$("$evenkeel" simulate "${@:3}" 2>&1) || code=$?
    echo "$code: $out"
    [ "$code" = "$1" ] && [[ $out == *"$2"* ]]
}
check "a negative numberOfClusters" refused 1 "numberOfClusters" --state $fleet/hub.yaml --placement "$work/negative.yaml"
sed 's/mode: Exact/mode: Exact, x: [/' $fleet/ranked.yaml >"$work/broken.yaml"
check "a file that is no YAML" refused 1 "placement file '$work/broken.yaml': line" --state $fleet/hub.yaml --placement "$work/broken.yaml"
sed 's/kind: Placement/kind: Deployment/' $fleet/web.yaml >"$work/another.yaml"
check "another kind" refused 1 "expected a Placement" --state $fleet/hub.yaml --placement "$work/another.yaml"
sed 's/type: BuiltIn/type: BuildIn/' $fleet/ranked.yaml >"$work/typo.yaml"
check "an enum, by path" refused 1 "spec.prioritizerPolicy.configurations[0].scoreCoordinate.type: 'BuildIn': did you mean 'BuiltIn'?" \
    --state $fleet/hub.yaml --placement "$work/typo.yaml"
check "no file" refused 1 "$work/none.yaml" --state $fleet/hub.yaml --placement "$work/none.yaml"
check "no state" refused 2 'no state; give --state' --placement $fleet/web.yaml
check "an API server" refused 2 'give --state' --kubeconfig "$work/none" --placement $fleet/web.yaml
check "no time" refused 2 "--now: 'noon' is no time" --state $fleet/hub.yaml --placement $fleet/web.yaml --now noon
check "beside a pod" refused 2 'leave out --pod' --state $fleet/hub.yaml --placement $fleet/web.yaml --pod x
check "--now without it" refused 2 'leave out --now' --state $fleet/hub.yaml --pod x --now $now
sed 's/maxSkew: 1/maxSkew: 0/' $fleet/policy.yaml >"$work/policy.yaml"
check "a policy that the API server refuses" refused 1 'maxSkew' --state $fleet/hub.yaml --policy "$work/policy.yaml" --placement $fleet/web.yaml
{ cat $fleet/hub.yaml; echo ---; cat "$work/policy.yaml"; } >"$work/state.yaml"
check "... among the state, too" refused 1 "$work/state.yaml" --state "$work/state.yaml" --placement $fleet/web.yaml
{ cat $fleet/hub.yaml; echo ---; cat $fleet/policy.yaml; } >"$work/state.yaml"
is "a good one among the state counts" \
    "$("$evenkeel" simulate --state "$work/state.yaml" --now $now --placement $fleet/ranked.yaml -o json | jq -c '[.policy, .selected]')" \
    '["two-clouds",["east-a1","hangzhou-e1","east-b1"]]'


# ---- what the webhook would make of it ----

admit() { "$evenkeel" simulate --admit "$@" -o json; }
sed 's/namespace: shop}/namespace: shop, annotations: {placements.evenkeel.io\/mode: Scores}}/' $fleet/web.yaml >"$work/scores.yaml"
check "without a state" admit --placement "$work/scores.yaml"
admit --placement "$work/scores.yaml" >"$work/admitted"
is "the answer's members" "$(jq -c 'keys' "$work/admitted")" '["allowed","code","findings","message","notes","patch","placement","warnings"]'
is "a prioritizer, and what was added" \
    "$(jq -c '.placement | [(.spec.prioritizerPolicy.configurations | last | .weight, .scoreCoordinate.type), (.metadata.annotations["placements.evenkeel.io/injected"] | fromjson | keys)]' "$work/admitted")" \
    '[10,"AddOn",["added","key","resource"]]'
jq -c .placement "$work/admitted" >"$work/again.json"
is "once more nothing" "$(admit --placement "$work/again.json" | jq -c .patch)" '[]'
jq -c 'del(.spec.spreadPolicy)' "$work/again.json" >"$work/less.json"
is "without terms it goes" \
    "$(admit --placement "$work/less.json" --previous "$work/again.json" | jq -c '[.placement.metadata.annotations, .placement.spec]')" \
    '[{"placements.evenkeel.io/mode":"Scores"},{"numberOfClusters":4}]'
is "a negative number is refused" "$(admit --placement "$work/negative.yaml" | jq -c '[.allowed, .code, .patch]')" '[false,422,[]]'
is "mode Owner" "$(admit --placement <(sed 's/Scores/Owner/' "$work/scores.yaml") | jq -c '[.patch[].value]')" '["true","true"]'
like "the table says what" "$("$evenkeel" simulate --admit --placement "$work/scores.yaml")" 'the Placement is .*patched'
check "--previous without --admit" refused 2 'leave out --previous' --state $fleet/hub.yaml --placement $fleet/web.yaml --previous x
check "--admit beside a pod" refused 2 'leave out --pod' --admit --placement $fleet/web.yaml --pod x
check "an enum, by path, here too" refused 1 "did you mean 'BuiltIn'?" --admit --placement "$work/typo.yaml"
check "... of the previous one" refused 1 "$work/none.yaml" --admit --placement $fleet/web.yaml --previous "$work/none.yaml"

# ---- over HTTP ----

start_server --state $fleet/hub.yaml --fleet-clusters --shutdown-delay 0s
post() { # VERB: the body from standard input
    curl --silent --cacert "$certs/ca.crt" --write-out '\n%{http_code}\n' \
        --header 'Content-Type: application/json' --data-binary @- "https://$extender/clusters/v1/$1"
}
web='{"apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "Placement", "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"numberOfClusters": 4, "spreadPolicy": {"spreadConstraints": [
        {"topologyKey": "region", "topologyKeyType": "Label", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"},
        {"topologyKey": "zone", "topologyKeyType": "Claim", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]}}}'
question() { jq -nc --argjson web "$web" --arg now $now "{placement: \$web, now: \$now} $1"; }
question '' | post select >"$work/select"
is "select answers as the command" "$(head -n 1 "$work/select" | jq -S .)" "$(jq -S "del(.findings)" "$work/web")"
is "... with 200" "$(tail -n 1 "$work/select")" 200
is "filter" "$(question '' | post filter | head -n 1 | jq -c '[(.clusterNames | length), .failedClusters, .error]')" \
    '[6,{"west-a2":"taint cluster.open-cluster-management.io/unreachable:NoSelect is not tolerated"},""]'
is "prioritize: best first" "$(question '' | post prioritize | head -n 1 | jq -c '[.scores[0:2], .error]')" \
    '[[{"cluster":"east-a1","score":200,"by":{"Balance":100,"Steady":100}},{"cluster":"east-a2","score":200,"by":{"Balance":100,"Steady":100}}],""]'
is "only these clusters" "$(question '+ {clusterNames: ["west-a1", "west-a2", "nobody"]}' | post select | head -n 1 | jq -c '[.selected, .unscheduled]')" \
    '[["west-a1"],3]'
state=$(jq -n '{apiVersion: "v1", kind: "List", items: [
    {apiVersion: "cluster.open-cluster-management.io/v1", kind: "ManagedCluster", metadata: {name: "lone", labels: {
        "cluster.open-cluster-management.io/clusterset": "s", region: "r"}}, status: {clusterClaims: [{name: "zone", value: "z"}]}},
    {apiVersion: "cluster.open-cluster-management.io/v1beta2", kind: "ManagedClusterSet", metadata: {name: "s"}},
    {apiVersion: "cluster.open-cluster-management.io/v1beta2", kind: "ManagedClusterSetBinding", metadata: {name: "s", namespace: "shop"},
        spec: {clusterSet: "s"}}]}')
is "a state in the place of what is known" "$(question "+ {state: $state}" | post select | head -n 1 | jq -c '[.selected, .available]')" '[["lone"],["lone"]]'
is "... which stays what it was" "$(question '' | post select | head -n 1 | jq -c .selected)" "$(jq -c .selected "$work/web")"
bad() { post select | paste -s -d ' '; }
like "not JSON" "$(echo '{' | bad)" '"error":"question.* 400$'
like "no Placement" "$(echo '{}' | bad)" '"error":"question.placement: it is missing.* 400$'
plan='{"id": 7, "step": "plan", "clusters": [{"name": "a", "labels": {"zone": "x"}}, {"name": "b", "labels": {"zone": "x"}},
    {"name": "c", "labels": {"zone": "y"}}], "terms": [{"topologyKey": "zone", "topologyKeyType": "Label"}], "number": 2}'
is "a question of one step" "$(post select <<<"$plan" | paste -s -d ' ')" \
    "$("$evenkeel" simulate --lines - <<<"$(jq -c . <<<"$plan")") 200"
like "... of another verb" "$(post filter <<<"$plan" | paste -s -d ' ')" "'plan' is no step of this verb; there are no steps.* 400$"
like "... of another one, with those there are" "$(post assign <<<"$plan" | paste -s -d ' ')" "there are: assign, schedule.* 400$"
like "a Placement where there is nothing to say of it" "$(question '' | post estimate | paste -s -d ' ')" 'no question about a Placement.* 400$'
like "no such step" "$(echo '{"id": 1, "step": "quantitty"}' | bad)" '"id":1,"error":"[^"]*did you mean .*"errorKind":"Input".* 400$'
is "... a quantity" "$(echo '{"step": "quantity", "text": "1500m"}' | post estimate | head -n 1 | jq -c '[.id, .canonical]')" '[null,"1500m"]'
like "... that is wrong" "$(jq '.number = -1' <<<"$plan" | bad)" '"errorKind":"Input".* 400$'
like "an enum, by path and byte" "$(question '' | sed 's/ScheduleAnyway/Maybe/' | bad)" \
    'question.placement.spec.spreadPolicy.spreadConstraints\[0\].whenUnsatisfiable.*at byte.* 400$'
like "a state that cannot be read" "$(question '+ {state: {items: [{apiVersion: "cluster.open-cluster-management.io/v1", kind: "ManagedCluster", metadata: {name: 3}}]}}' | bad)" \
    'state.*metadata.name.* 400$'
like "no time" "$(question '+ {now: "noon"}' | bad)" "question.now: 'noon' is no time.* 400$"
stop_server INT

# ---- of one that is known, by its name ----

start_server --state $fleet/hub.yaml --state $fleet/web.yaml --fleet-clusters --shutdown-delay 0s
ops() { curl --silent "http://$ops/$1" "${@:2}"; }
explain() { "$evenkeel" explain "$@" --server "http://$ops"; }
ops explain/placements/shop/web >"$work/explained"
"$evenkeel" simulate --state $fleet/hub.yaml --placement $fleet/web.yaml -o json >"$work/simulated"
is "explain answers as simulate" "$(jq -S 'del(.replica, .planner, .history, .historyForgotten)' "$work/explained")" \
    "$(jq -S "del(.findings)" "$work/simulated")"
is "... a process that decides none" "$(jq -c '[.planner, .history]' "$work/explained")" '[null,[]]'
is "... with so many items of a list" "$(ops 'explain/placements/shop/web?limit=2' | jq -c '[.available, .omitted.available]')" \
    '[["east-a1","east-a2"],5]'
is "the command: json" "$(explain placement shop/web -o json | jq -S 'del(.replica, .replicas, .decisions, .planner, .history, .historyForgotten, .answeredBy)')" \
    "$(jq -S "del(.findings)" "$work/simulated")"
is "... who answered" "$(explain placement shop/web -o json | jq -r .answeredBy)" "http://$ops"
like "... a table" "$(explain placement shop/web)" 'shop/web: 4 selected.*planner: none here.*east-b1.*us-east-1b'
is "... of several replicas, one is away" \
    "$("$evenkeel" explain placement shop/web --server http://127.0.0.1:1 --server "http://$ops" -o json | jq -c '[.answeredBy != null, [.replicas[].answered]]')" \
    '[true,[false,true]]'
like "... which is said" "$("$evenkeel" explain placement shop/web --server http://127.0.0.1:1 --server "http://$ops")" \
    'shop/web: 4 selected.*1 of 2 replicas answered'
explain placement shop/web -o json >"$work/elsewhere.json"
is "... an answer that was got elsewhere" \
    "$("$evenkeel" explain placement shop/web --server http://127.0.0.1:1 --answer "there=$work/elsewhere.json" -o json | jq -c '[.answeredBy, .selected == .moves.add]')" \
    '["there",false]'
is "... by the name of the replica" "$(explain placement shop/web --called here -o json | jq -c '[.answeredBy, .replicas[0].server]')" '["here","here"]'
explain_fails() { # STATUS WORDS ARGUMENT...
    local code=0 out
    out=$(explain "${@:3}" 2>&1) || code=$?
    echo "$code: $out"
    [ "$code" = "$1" ] && [[ $out == *"$2"* ]]
}
check "one that is not known" explain_fails 1 "no Placement 'shop/none' is known" placement shop/none
check "no namespace" explain_fails 2 "expected placement NAMESPACE/NAME" placement web
is "from another machine" "$(ops explain/placements/shop/web -H 'Host: evil.example.com' -o /dev/null -w '%{http_code}')" 403
stop_server INT

# ---- where no fleet is known ----

start_server --state $fleet/hub.yaml --shutdown-delay 0s
is "explain without fleet.clusters" "$(ops explain/placements/shop/web -w ' %{http_code}')" \
    "no fleet is known here: set fleet.clusters (--fleet-clusters)
 404"
like "without fleet.clusters a question brings its state" "$(question '' | bad)" 'no fleet is known here: set fleet.clusters.* 200$'
is "... and is answered then" "$(question "+ {state: $state}" | post select | head -n 1 | jq -c .selected)" '["lone"]'
stop_server INT
finish_tests

#!/usr/bin/env bash
# The command line: help, hints, exit codes, and errors about files that cannot be read.
. "$(dirname "$0")/lib.sh"

state=$example/state.json
pod=$example/pod.json

run() { # EVENKEEL ARGUMENT...: exit code, standard output and error in $code, $out and $err
    code=0
    timeout "$PATIENCE" "$evenkeel" "$@" >"$work/out" 2>"$work/err" || code=$?
    out=$(<"$work/out") err=$(<"$work/err")
}

# ---- help ----

helped() { # COMMAND WORD...: its help, all of it on standard output, names itself and the options
    local word
    run $1 --help
    if [ "$code" != 0 ] || [ -n "$err" ]; then
        echo "exit code $code, on standard error: $err"
        return 1
    fi
    for word in "evenkeel $1" "${@:2}"; do
        grep -qF -- "$word" <<<"$out" || { echo "no '$word' in: $out"; return 1; }
    done
}
check "help" helped '' COMMAND fleet Placement binding serve estimator simulate topology check certs version
check "help serve" helped serve --state --extender-listen --shutdown-delay 'Exit codes' 'Example'
check "help serve: what kube-scheduler may call" helped serve /extender/v1/filter /extender/v1/prioritize \
    /extender/v1/preempt /extender/v1/bind filterVerb prioritizeVerb preemptVerb bindVerb
check "help estimator" helped estimator --cluster-name --kubeconfig --server-port --feature-gates --parallelism 'Exit codes' 'Example'
check "help simulate" helped simulate --pod --candidates --admit --policy --output 'Exit codes' 'Example'
check "help topology" helped topology nodes --by --output --state 'Exit codes' 'Example'
check "help check" helped check config kube-scheduler-config 'Exit codes' 'Example'
check "help check config" helped 'check config' 'Example'
check "help check kube-scheduler-config" helped 'check kube-scheduler-config' 'Example'
check "help check policy" helped 'check policy' --state --kubeconfig 'Exit codes' 'Example'
check "help certs" helped certs init show check
check "help certs init" helped 'certs init' --dir --host --force 'Exit codes' 'Example'
check "help certs show" helped 'certs show' --output 'Example'
check "help certs check" helped 'certs check' --cert --key --ca --within 'Example'
check "help version" helped version --output 'Example'
run help simulate
is "help COMMAND is COMMAND --help" "$code $out" "0 $("$evenkeel" simulate --help)"
run help check config
is "... of two words, too" "$code $out" "0 $("$evenkeel" check config --help)"
run help servee
like "... of no command" "$code $err" "^2 evenkeel: unknown command 'servee'; did you mean 'serve'"
run serve -h
is "-h is --help" "$code $out" "0 $("$evenkeel" serve --help)"

# Every flag of the help is one that serve takes, and stands in the documentation.
flags() { "$evenkeel" serve --help | sed -nE 's/^ +(-., )?--([a-z-]+).*/\2/p'; }
undocumented() { flags | grep -vxE 'config|help' | while read -r flag; do grep -qF -- "--$flag" docs/configuration.md || echo "$flag"; done; }
check "serve has flags" test "$(flags | wc -l)" -gt 20
is "every flag of serve is in docs/configuration.md" "$(undocumented)" ''

# ---- wrong usage: exit code 2, the mistake, and a hint ----

wrong() { # NAME PATTERN ARGUMENT...
    run "${@:3}"
    if [ "$code" = 2 ] && [ -z "$out" ] && [[ $err =~ $2 ]]; then
        pass "$1"
    else
        fail "$1" "exit code $code, wanted 2" "on standard output: $out" "on standard error: $err" "wanted: $2"
    fi
}
wrong "no command" '^Evenkeel .*usage: evenkeel COMMAND'
wrong "an unknown command" "^evenkeel: unknown command 'sevre'; did you mean 'serve'\?.*serve +the daemon" sevre
wrong "... that is like none" "^evenkeel: unknown command 'frobnicate'[^;?]*serve +the daemon" frobnicate
wrong "an unknown flag" "^evenkeel serve: unknown option '--extender-listne'; did you mean --extender-listen\?.*Try 'evenkeel serve --help'" \
    serve --extender-listne 127.0.0.1:0
wrong "a flag without its value" "option '--pod' needs a value: --pod FILE.*Try " simulate --state "$state" --pod
wrong "an argument too many" "unexpected argument 'more'.*Try " simulate --state "$state" --pod "$pod" more
wrong "no pod" 'no pod; give --pod FILE.*Try ' simulate --state "$state"
wrong "topology of what there is not" "nothing is called 'node', and a workload is NAMESPACE/NAME; did you mean 'nodes'\?" topology node --state "$state"
wrong "topology of half a workload" "expected NAMESPACE/NAME, not 'shop/'" topology shop/ --state "$state"
wrong "topology of two workloads" "unexpected argument 'shop/b'" topology shop/a shop/b --state "$state"
wrong "a report by two keys" 'more than one --by' topology --state "$state" --by a --by b
wrong "a skew below nothing" "--max-skew '-1': expected a number of pods" topology --state "$state" --max-skew=-1
wrong "a skew of nodes" '--max-skew is about workloads, not about nodes' topology nodes --state "$state" --max-skew 1
wrong "topology without a state" 'no state; give --state' topology nodes
wrong "a topology key too many" 'more than 8 times --by' topology nodes --state "$state" --by={a,b,c,d,e,f,g,h,i}
wrong "no state to simulate" 'no state; give --state FILE or DIR.*Try ' simulate --pod "$pod"
for command in "simulate --pod $pod" "topology" "topology nodes" "check policy $example/policy.yaml"; do
    # shellcheck disable=SC2086  # words
    wrong "$command of files and of an API server" '--state, --kubeconfig and --in-cluster exclude each other; keep one.*Try ' \
        $command --state "$state" --kubeconfig nothing
done
wrong "no state to serve" 'no cluster to serve; give --kubeconfig FILE, --in-cluster or --state FILE' \
    serve --extender-cert-file "$certs/tls.crt" --extender-key-file "$certs/tls.key"
wrong "an unknown output format" "unknown output format 'yaml'; use table or json.*Try " version --output yaml
wrong "an unknown check" "unknown check 'confg'; did you mean config\?.*Try " check confg x
wrong "no file to check" 'which FILE\?.*Try ' check config
wrong "certs without a verb" 'Usage: evenkeel certs COMMAND' certs
wrong "an unknown verb of certs" "unknown command 'inti'; did you mean 'init'\?" certs inti
wrong "certs init without a folder" 'no folder; give --dir DIR.*Try ' certs init

# ---- what cannot be read or done: exit code 1 ----

broken() { # NAME PATTERN ARGUMENT...
    run "${@:3}"
    if [ "$code" = 1 ] && [ -z "$out" ] && [[ $err =~ $2 ]] && [ "$(wc -l <"$work/err")" -eq 1 ]; then
        pass "$1"
    else
        fail "$1" "exit code $code, wanted 1" "on standard output: $out" "on standard error: $err" "wanted one line: $2"
    fi
}
simulate() { # NAME PATTERN POD
    broken "$1" "^evenkeel simulate: $2" simulate --state "$state" --pod "$3"
}
serve=(serve --state "$state" --extender-listen 127.0.0.1:0 --ops-listen 127.0.0.1:0
    --extender-cert-file "$certs/tls.crt" --extender-key-file "$certs/tls.key")

broken "a state that is not there" "^evenkeel simulate: cannot read state 'nothing.json': No such file" \
    simulate --state nothing.json --pod "$pod"
mkdir "$work/empty"
broken "a folder without state" "no .json, .yaml or .yml file in '$work/empty'" simulate --state "$work/empty" --pod "$pod"
echo '{"kind": "Node", "metadata": {"name": 7}}' >"$work/bad-state.json"
broken "a state that is wrong" "state file '$work/bad-state.json': document\.metadata\.name: expected a string, found a number, at byte 38" \
    simulate --state "$work/bad-state.json" --pod "$pod"
simulate "a pod that is not there" "cannot open 'nothing': No such file" nothing
sed 's,"apiVersion": *"v1","apiVersion": "example.com/v1",' "$pod" >"$work/foreign.json"
simulate "a Pod of another API group" "pod file '$work/foreign.json': apiVersion is 'example.com/v1'; expected v1" "$work/foreign.json"
jq '.items |= map(select(.kind == "Node"))' "$state" >"$work/nodes.json"
simulate "a pod that is a list without pods" "pod file '$work/nodes.json': [0-9]+ documents, and none of them is a Pod or workload" "$work/nodes.json"
printf 'apiVersion: v1\nkind: Pod\n---\n\nspec: {template: {spec: {}}}\n' >"$work/two.yaml"
simulate "one of several that has no kind" "pod file '$work/two.yaml': it has no kind; expected one Pod, or a workload with spec.template, at line 5" "$work/two.yaml"
printf 'kind: Pod\nspec: [\n' >"$work/pod.yaml"
simulate "a pod that is not YAML" "pod file '$work/pod.yaml': line [23], column [0-9]+: " "$work/pod.yaml"
printf 'kind: Pod\nspec:\n  topologySpreadConstraints:\n  - {topologyKey: zone, maxSkew: 1, whenUnsatisfiable: Maybe}\n' >"$work/pod.yaml"
simulate "a pod with a constraint that is none" \
    "pod file '$work/pod.yaml': Pod.spec.topologySpreadConstraints\[0\].whenUnsatisfiable: 'Maybe' is neither 'DoNotSchedule' nor 'ScheduleAnyway'" \
    "$work/pod.yaml"

# A line of YAML, for the bytes are those of the JSON that it is made into.
printf '# two\nkind: Node\nmetadata: {name: a}\n---\nkind: Node\nmetadata:\n  name: 7\n' >"$work/bad-state.yaml"
broken "a state of YAML that is wrong" "state file '$work/bad-state.yaml', document 2: document\.metadata\.name: expected a string, found a number, at line 7$" \
    simulate --state "$work/bad-state.yaml" --pod "$pod"
{ cat "$work/bad-state.yaml" && echo '#' && head -c 4200000 /dev/zero | tr '\0' '#'; } >"$work/large.yaml"
broken "... of more than 4 MiB, without it" "document 2: document\.metadata\.name: expected a string, found a number$" \
    simulate --state "$work/large.yaml" --pod "$pod"
printf 'apiVersion: evenkeel.io/v1alpha1\nkind: TopologyPolicy\nmetadata: {name: a}\nspec:\n  pods:\n    spread:\n    - topologyKey: zone\n      maxSkw: 1\n' >"$work/bad-policy.yaml"
broken "a policy that is wrong" "policy file '$work/bad-policy.yaml': policy\.spec\.pods\.spread\[0\]\.maxSkw: unknown field, at line 8$" \
    simulate --state "$state" --pod "$pod" --policy "$work/bad-policy.yaml"
printf 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: 7\n' >"$work/pod.yaml"
simulate "a pod that is wrong" "pod file '$work/pod.yaml': Pod\.metadata\.name: expected a string, found a number, at line 4$" "$work/pod.yaml"
printf 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  template:\n    spec: {nodeSelector: [a]}\n' >"$work/pod.yaml"
simulate "a template that is wrong" "pod file '$work/pod.yaml': Pod\.spec\.nodeSelector: expected an object, found an array$" "$work/pod.yaml"

broken "serve: no state file" "^evenkeel serve: cannot read state 'nothing'" "${serve[@]}" --state nothing
broken "serve: no certificate" '^evenkeel serve: extender.certFile: serving HTTPS needs a certificate and its key' serve --state "$state"
broken "serve: a certificate that is not there" "cannot start listener 'extender': cannot open 'nothing'" \
    "${serve[@]}" --extender-cert-file nothing
broken "serve: a key of another certificate" 'do not belong together' "${serve[@]}" --extender-key-file "$certs/client.key"
wrong "serve: an address that is none" "^evenkeel serve: --extender-listen: 'nowhere' is not a valid address: write an IP address, or nothing, and a port: 127\.0\.0\.1:8443, .*"$'\n'"Try 'evenkeel serve --help'\.$" \
    "${serve[@]}" --extender-listen nowhere
wrong "serve: a host name" "^evenkeel serve: --extender-listen: 'localhost:0' is not a valid address: write an IP address" \
    "${serve[@]}" --extender-listen localhost:0
broken "serve: subjects without a client CA" 'extender.allowedSubjects: without clientCAFile no client certificate is asked for' "${serve[@]}" --extender-allowed-subject x
for address in :0 0.0.0.0:0 '[::]:0'; do
    broken "serve: an extender for everyone at $address" \
        'extender.clientCAFile: extender.listen is open to other machines, .*set it \(--extender-client-ca-file\).*--insecure-extender' \
        "${serve[@]}" --extender-listen "$address"
done
start_server --state "$state"
broken "serve: the extender's port is in use" \
    "cannot start listener 'extender': cannot listen on '$extender': Address already in use; stop the program that listens there, or choose another port" \
    "${serve[@]}" --extender-listen "$extender"
broken "serve: the port of ops is in use" "cannot start listener 'ops': cannot listen on '$ops': Address already in use" \
    "${serve[@]}" --ops-listen "$ops"
check "... and who has them goes on" test "$(ops livez)" = ok
stop_server INT
wrong "serve: a number that is none" "^evenkeel serve: --extender-max-priority: 'many' is not a whole number" \
    "${serve[@]}" --extender-max-priority many
wrong "serve: a number out of range" '^evenkeel serve: --extender-max-priority: 5000 is not between 10 and 100' \
    "${serve[@]}" --extender-max-priority 5000
wrong "simulate: a number that is none" "^evenkeel simulate: --extender-max-priority: 'many' is not a whole number" \
    simulate --state "$state" --pod "$pod" --extender-max-priority many
wrong "check config: a number that is none" "^evenkeel check config: --extender-max-priority: 'many' is not a whole number" \
    check config docs/examples/evenkeel.yaml --extender-max-priority many
wrong "check cluster: a number that is none" "^evenkeel check cluster: --extender-max-priority: 'many' is not a whole number" \
    check cluster --extender-max-priority many

# ---- configuration ----

configure() { printf '%s\n' 'apiVersion: evenkeel.io/v1alpha1' 'kind: EvenkeelConfiguration' "$@" >"$work/config.yaml"; }
config_error() { # NAME PATTERN LINE...: of the file, after two good ones
    configure "${@:3}"
    broken "serve: $1" "^evenkeel serve: $work/config\.yaml$2" serve --config "$work/config.yaml" --state "$state"
}
config_error "an unknown key" ":4: unknown key 'extender\.listne'; did you mean 'listen'" 'extender:' '  listne: 127.0.0.1:0'
config_error "a wrong type" ":4: extender\.maxPriority: expected a number, found a text" 'extender:' '  maxPriority: many'
config_error "a number out of range" ":5: extender\.limits\.connectionsPerAddress: 0 is not between 1 and 65536" \
    'extender:' '  limits:' '    connectionsPerAddress: 0'
config_error "a duration without a unit" ":3: state\.pollInterval: expected a duration such as 500ms" 'state: {pollInterval: 5}'
config_error "a key twice" ": line 4, column 1: duplicate key 'log'" 'log: {level: info}' 'log: {level: debug}'
config_error "not YAML" ': line [0-9]+, column [0-9]+: ' 'state: {'
config_error "several mistakes" ":3: .*\(1 more: see 'evenkeel check config'\)" 'log: {level: loud}' 'ops: {listen: nowhere}'
broken "serve: no configuration file" "cannot open 'nothing': No such file" serve --config nothing --state "$state"

run check config "$work/config.yaml"
like "check config: all mistakes" "$code $out" '^1 SEVERITY .*error +3 +log\.level +.loud. is not one of debug, .*error +4 +ops\.listen .*2 errors$'
is "check config: for programs" \
    "$("$evenkeel" check config -o json "$work/config.yaml" | jq -c '[.errors, (.findings | map([.line, .field]))]')" \
    '[2,[[3,"log.level"],[4,"ops.listen"]]]'
configure "state: {paths: [$state]}" "extender: {listen: '127.0.0.1:0', certFile: $certs/tls.crt, keyFile: $certs/tls.key}" \
    "ops: {listen: '127.0.0.1:0'}"
run check config "$work/config.yaml"
is "check config: a good one" "$code" 0
printf '%s\n' 'webhook: {threads: 4}' >>"$work/config.yaml" # a setting of a former version
start_server --config "$work/config.yaml" --log-format json --extender-threads 4
check "settings of former versions stop nobody, and are warned about" \
    wait_log '"level":"warn".*a setting has no effect.*"setting":"webhook.threads".*no longer a setting.*"advice":"remove it"'
check "... as flags, too" wait_log '"setting":"extender.threads","why":"--extender-threads is no longer a setting'
check "... is served from, and a flag overrides it" jq -e 'select(.msg == "serving").extender' "$log"
stop_server INT
run check config docs/examples/evenkeel.yaml
is "check config: the annotated example has no error" "$code" 0

# The one in the guide is what people copy.
sed -n '/^apiVersion: kubescheduler/,/^```$/p' docs/guides/kube-scheduler.md | sed '/^```$/,$d' >"$work/scheduler.yaml"
run check kube-scheduler-config "$work/scheduler.yaml"
is "check kube-scheduler-config: the guide's has no error" "$code" 0
unlike "... and no warning" "$out" '(error|warning) '
bad_scheduler() { # NAME LINE-AND-FIELD SED-SCRIPT
    sed -E "$3" "$work/scheduler.yaml" >"$work/scheduler-bad.yaml"
    run check kube-scheduler-config "$work/scheduler-bad.yaml"
    like "check kube-scheduler-config: $1" "$code $out" "^1 .*error +$2 "
}
bad_scheduler "an unknown field" '7 +extenders\[0\]\.filterverb' 's/filterVerb/filterverb/'
bad_scheduler "whole nodes" '13 +extenders\[0\]\.nodeCacheCapable' 's/nodeCacheCapable: true/nodeCacheCapable: false/'
bad_scheduler "no weight" '11 +extenders\[0\]\.weight' 's/weight: 2/weight: 0/'
bad_scheduler "a number for a timeout" '15 +extenders\[0\]\.httpTimeout' 's/httpTimeout: 1s/httpTimeout: 1/'
sed 's/https:/http:/' "$work/scheduler.yaml" >"$work/scheduler-plain.yaml"
run check kube-scheduler-config "$work/scheduler-plain.yaml"
like "check kube-scheduler-config: plain HTTP" "$out" '(error|warning) +6 +extenders\[0\]\.urlPrefix +plain http'
run check kube-scheduler-config nothing
like "check kube-scheduler-config: no such file" "$code $out$err" "^1 .*cannot open 'nothing'"

# ---- a source that a flag names, instead of that of the file ----

configure 'kubernetes: {inCluster: true}'
run simulate --config "$work/config.yaml" --state "$state" --pod "$pod"
is "simulate: --state, not inCluster of the file" "$code $(head -n 2 <<<"$out" | tail -n 1 | cut -d ' ' -f 1)" "0 ap-south-a-1"
configure "state: {paths: [$state]}"
for command in "simulate --pod $pod" "topology" "topology nodes"; do
    # shellcheck disable=SC2086  # words
    run $command --config "$work/config.yaml" --kubeconfig nothing
    like "$command: --kubeconfig, not state.paths of the file" "$code $err" "^1 .*no kubeconfig: 'nothing' does not exist"
done

# ---- version ----

run version
like "version" "$code $out" '^0 evenkeel +[0-9]+\.[0-9]+\.[0-9]+'
is "--version is the same" "$("$evenkeel" --version)" "$out"
check "version for programs" jq -e '.version and .commit and .libraries' <("$evenkeel" version -o json)

# ---- certs init ----

digests() { (cd "$1" && sha256sum ca.crt ca.key tls.crt client.crt | cut -c 1-8 | paste -s -d ' '); }
run certs init --dir "$work/made" --host evenkeel.example.com
like "certs init" "$code $out" '^0 .*ca\.crt +CA, new.*tls\.crt +server .*client\.crt'
is "... keeps keys to itself" "$(stat -c %a "$work/made" "$work/made"/*.key | paste -s -d ' ')" '700 600 600 600'
read -r ca_crt ca_key tls client < <(digests "$work/made")
run certs init --dir "$work/made"
like "certs init again keeps the CA" "$code $out" '^0 .*ca\.crt +CA, kept'
read -r ca_crt2 ca_key2 tls2 client2 < <(digests "$work/made")
is "... the same bytes" "$ca_crt2 $ca_key2" "$ca_crt $ca_key"
check "... and renews the others" test "$tls $client" != "$tls2 $client2"
like "... for the same host" "$("$evenkeel" certs show -o json "$work/made/tls.crt" | jq -c '.[0].names')" '^\["evenkeel.example.com"\]$'
cp "$certs"/ca.* "$work/made/"
run certs init --dir "$work/made"
like "certs init does not overwrite what is another CA's" "$code $err" \
    "^1 evenkeel certs init: will not overwrite tls\.crt and tls\.key in .*--force overwrites them"
run certs init --dir "$work/made" --force
is "... but with --force" "$code" 0
rm "$work/made/ca.key"
run certs init --dir "$work/made"
like "certs init does not replace half a CA" "$code $err" '^1 .*ca\.key is missing or empty; put it back'
run certs init --dir "$work/made/ca.crt"
like "certs init: not a folder" "$code $err" "^1 .*cannot make the folder '$work/made/ca.crt': Not a directory"

# ---- topology ----

cat >"$work/topology.yaml" <<'END'
{kind: Node, apiVersion: v1, metadata: {name: b, labels: {zone: z1, disk: ssd}},
 spec: {taints: [{key: k, value: v, effect: NoSchedule}, {key: l, effect: NoExecute}]}}
---
{kind: Node, apiVersion: v1, metadata: {name: a, labels: {zone: z2}}}
---
{kind: Pod, apiVersion: v1, metadata: {name: p, namespace: n}}
END
run topology nodes --state "$work/topology.yaml" --by zone --by disk
is "topology: a table by name" "$code $(tr -s ' ' <<<"$out" | sed 's/ *$//')" \
    "0 NAME zone disk TAINTS"$'\n'"a z2 -"$'\n'"b z1 ssd k=v:NoSchedule"$'\n'" l:NoExecute"
run topology nodes --state "$work/topology.yaml" --by zone --by disk -o json
is "topology: JSON" "$(jq -c '[.kind, (.nodes[] | [.name, .domains, .labels, .taints])]' <<<"$out")" \
    '["Node",["a",{"zone":"z2"},{"zone":"z2"},[]],["b",{"zone":"z1","disk":"ssd"},{"disk":"ssd","zone":"z1"},[{"key":"k","value":"v","effect":"NoSchedule"},{"key":"l","value":"","effect":"NoExecute"}]]]'
cat >"$work/fleet.yaml" <<'END'
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedClusterList
items:
- metadata: {name: paris, labels: {region: eu}}
  status: {clusterClaims: [{name: zone, value: eu-1}]}
- metadata: {name: boston, labels: {region: us, cloud: Amazon}}
  spec: {taints: [{key: cluster.open-cluster-management.io/unreachable, effect: NoSelect}]}
END
run topology clusters --state "$work/fleet.yaml"
is "topology: clusters of a fleet" "$code $(tr -s ' ' <<<"$out" | sed 's/ *$//')" \
    "0 NAME cloud region zone TAINTS"$'\n'"boston Amazon us - cluster.open-cluster-management.io/unreachable:NoSelect"$'\n'"paris - eu -"
run topology clusters --state "$work/fleet.yaml" --by claim:zone -o json
is "topology: a claim is a key" "$(jq -c '.clusters | map([.name, .domains])' <<<"$out")" \
    '[["boston",{}],["paris",{"claim:zone":"eu-1"}]]'
cat >"$work/karmada.yaml" <<'END'
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: member1, labels: {region: label}}
spec: {provider: P1, region: R1, zones: [Z1, Z2], taints: [{key: k, effect: NoSchedule}]}
END
run topology clusters --state "$work/karmada.yaml"
is "topology: clusters of Karmada" "$code $(tr -s ' ' <<<"$out" | sed 's/ *$//')" \
    "0 NAME cloud region zone TAINTS"$'\n'"member1 P1 label Z1,Z2 k:NoSchedule"
run topology clusters --state "$work/karmada.yaml" --by provider --by zone -o json
is "topology: clusters of Karmada as JSON" "$(jq -c '[.kind, (.clusters[] | [.name, .kind, .domains])]' <<<"$out")" \
    '["Cluster",["member1","Cluster",{"provider":"P1","zone":"Z1,Z2"}]]'
run topology clusters --state "$work/karmada.yaml" --state "$work/fleet.yaml" --by region --by claim:zone
is "topology: clusters of both kinds" "$code $(tr -s ' ' <<<"$out" | sed 's/ *$//')" \
    "0 NAME KIND region claim:zone TAINTS"$'\n'"boston ManagedCluster us - cluster.open-cluster-management.io/unreachable:NoSelect"$'\n'"member1 Cluster label - k:NoSchedule"$'\n'"paris ManagedCluster eu eu-1"
run topology clusters --state "$work/karmada.yaml" --state "$work/fleet.yaml" -o json
is "topology: clusters of both kinds as JSON" "$(jq -c '[.kind, (.clusters | map(.kind))]' <<<"$out")" \
    '["ManagedCluster",["ManagedCluster","Cluster","ManagedCluster"]]'
printf '{kind: Pod, apiVersion: v1, metadata: {name: p}}\n' >"$work/topology.yaml"
run topology clusters --state "$work/topology.yaml"
is "topology: no clusters" "$code $err" "0 evenkeel topology: no clusters: there is no object of kind ManagedCluster, or Cluster of Karmada (from files)"
run topology nodes --state "$work/topology.yaml"
is "topology: none" "$code $err" "0 evenkeel topology: no nodes: there is no object of kind Node"

# ---- how even workloads are ----

pods() { # NAME NODE COUNT MORE: pods of the Deployment NAME
    local i
    for ((i = 0; i < $3; i++)); do
        printf -- '---\n{kind: Pod, apiVersion: v1, metadata: {name: %s-%s%s, namespace: shop, labels: {pod-template-hash: 5d}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: %s-5d, controller: true}]}, spec: {nodeName: %s%s}}\n' \
            "$1" "$2" "$i" "$1" "$2" "${4:-}"
    done
}
{
    for letter in a b c; do
        printf -- '---\n{kind: Node, apiVersion: v1, metadata: {name: %s, labels: {topology.kubernetes.io/zone: zone-%s, disk: d%s}}}\n' \
            $letter $letter $letter
    done
    pods web a 5
    pods web b 4
    pods web c 4
    pods cart a 4
    pods pinned a 4 ', nodeSelector: {disk: da}'
    pods pinned b 1
} >"$work/even.yaml"
zone=topology.kubernetes.io/zone
run topology --state "$work/even.yaml" -o json
is "topology: JSON of a report" "$code $(jq -c '.topologyKey, .domains, .workloads[]' <<<"$out")" \
    '0 "topology.kubernetes.io/zone"
[{"name":"zone-a","nodes":1,"pods":13},{"name":"zone-b","nodes":1,"pods":5},{"name":"zone-c","nodes":1,"pods":4}]
{"namespace":"shop","name":"cart","kind":"Deployment","pods":4,"domains":{"zone-a":4,"zone-b":0,"zone-c":0},"skew":4,"bestSkew":1,"state":"uneven"}
{"namespace":"shop","name":"pinned","kind":"Deployment","pods":5,"domains":{"zone-a":4,"zone-b":1,"zone-c":0},"skew":4,"bestSkew":4,"state":"unavoidable"}
{"namespace":"shop","name":"web","kind":"Deployment","pods":13,"domains":{"zone-a":5,"zone-b":4,"zone-c":4},"skew":1,"bestSkew":1,"state":"even"}'
run topology --state "$work/even.yaml"
like "topology: a report for people" "$code $(tr -s ' #' <<<"$out" | tr '\n' '|')" \
    "^0 $zone: 3 domains; 3 workloads: 1 even, 1 unavoidable, 1 uneven.*zone-a 1 13 #.*shop cart Deployment 4 4 1 uneven zone-a 4 zone-b 0 zone-c 0"
run topology shop/web --state "$work/even.yaml"
like "topology: a workload" "$code $(tr -s ' #' <<<"$out" | tr '\n' '|')" \
    "^0 Deployment shop/web, 13 pods, by $zone.skew 1, best 1; even.*zone-a 5 #.zone-b 4 #"
# A StatefulSet on disks of one zone each cannot be moved; on others it could.
disks() { # CLASS COUNT: pods of the StatefulSet CLASS in zone a, each with a claim that is bound to a disk of it
    local i
    for ((i = 0; i < $2; i++)); do
        printf -- '---\n{kind: Pod, apiVersion: v1, metadata: {name: %s-%s, namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: %s, controller: true}]}, spec: {nodeName: a, volumes: [{name: data, persistentVolumeClaim: {claimName: data-%s-%s}}]}}\n' \
            "$1" $i "$1" "$1" $i
        printf -- '---\n{kind: PersistentVolumeClaim, apiVersion: v1, metadata: {name: data-%s-%s, namespace: shop}, spec: {volumeName: pv-%s-%s}}\n' \
            "$1" $i "$1" $i
        printf -- '---\n{kind: PersistentVolume, apiVersion: v1, metadata: {name: pv-%s-%s}, spec: {%s}}\n' "$1" $i "${3:-}"
    done
}
{
    cat "$work/even.yaml"
    disks zonal 3 'nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [zone-a]}]}]}}'
    disks network 3
} >"$work/volumes.yaml"
run topology --state "$work/volumes.yaml" -o json
is "topology: what disks of a zone leave" \
    "$(jq -c '.workloads[] | select(.kind == "StatefulSet") | [.name, .domains, .bestSkew, .state]' <<<"$out")" \
    '["network",{"zone-a":3,"zone-b":0,"zone-c":0},0,"uneven"]
["zonal",{"zone-a":3},0,"even"]'
sed 's/labels: {topology.kubernetes.io\/zone: zone-c, disk: dc}}/&, spec: {unschedulable: true}/' "$work/even.yaml" >"$work/cordoned.yaml"
run topology --state "$work/cordoned.yaml" -o json
is "topology: pods where none may be by now do not count, and JSON says so" \
    "$(jq -c '.workloads[] | select(.name == "web") | [.elsewhere, .skew, .state]' <<<"$out")" '[{"zone-c":4},1,"even"]'
run topology --state "$work/even.yaml" --max-skew 1
like "topology: a skew that is too large" "$code $err" '^3 evenkeel topology: 1 workload has a skew above 1 that could be less'
run topology shop/pinned --state "$work/even.yaml" --max-skew 1
is "... but not one that nobody can help" "$code $err" "0 "
run topology shop/wbe --state "$work/even.yaml"
like "topology: no such workload" "$code $err" "^1 .*no workload shop/wbe is measured: there is none \(did you mean 'web'\?\), or it has no pod,"
run topology --state "$work/even.yaml" --by rack
like "topology: a key that no node has" "$code $err" "^1 .*no node has the label 'rack'"
printf '{kind: Node, apiVersion: v1, metadata: {name: a}}\n' >"$work/unlabelled.yaml"
run topology --state "$work/unlabelled.yaml"
like "topology: no key at all" "$code $err" '^1 .*no node has a label topology.kubernetes.io/zone, .*; give --by KEY'

# What kubectl prints where nothing may be read, or of another cluster: everything is answered as if all were well.
echo '{"kind": "List", "apiVersion": "v1", "items": []}' >"$work/nothing.json"
nothing='there are no nodes: no object of kind Node is in the state'
for key in '' '--by rack'; do
    # shellcheck disable=SC2086  # words
    run topology --state "$work/nothing.json" $key
    is "topology $key: no node at all" "$code $err" "1 evenkeel topology: $nothing"
done
run simulate --state "$work/nothing.json" --pod "$pod"
is "simulate: no node at all" "$code $err" "0 evenkeel simulate: $nothing"
run simulate --state "$work/nothing.json" --pod "$pod" --replicas 2
is "... nor for several pods" "$code $err" "0 evenkeel simulate: $nothing"
run simulate --state "$work/nothing.json" --pod "$pod" --admit
is "... nor for what the webhook knows" "$code $err" "0 evenkeel simulate: $nothing"
start_server --state "$work/nothing.json"
check "serve: no node at all is in the log" grep -q 'level=warn msg="the state has no nodes".*Node' "$log"
kill -HUP "$server"
said_twice() { [ "$(grep -c 'the state has no nodes' "$log")" = 2 ]; }
check "... whenever the state is read" await said_twice
stop_server INT
run topology --server http://127.0.0.1:1
like "topology: no daemon" "$code $err" '^1 evenkeel topology: .*127.0.0.1:1'

# Nine kinds of pods, of which each may be in one zone only: however many, there is but one way.
single() { # LETTER: a node in a zone of its own, and a pod that may be there only
    printf -- '---\n{kind: Node, apiVersion: v1, metadata: {name: %s, labels: {topology.kubernetes.io/zone: zone-%s, disk: d%s}}}\n' "$1" "$1" "$1"
    pods many "$1" 1 ", nodeSelector: {disk: d$1}"
}
for letter in a b c d e f g h i; do single $letter; done >"$work/single.yaml"
run topology --state "$work/single.yaml" -o json
is "topology: many kinds of pods, each with one place" "$code $(jq -c '.workloads[] | [.state, .skew, .bestSkew]' <<<"$out")" \
    '0 ["even",0,0]'
# Nine kinds of pods, each with its own two zones, are more kinds than the report distinguishes.
zoned() { # LETTER NEXT: a node in a zone of its own, and a pod that may be there and in the next one
    printf -- '---\n{kind: Node, apiVersion: v1, metadata: {name: %s, labels: {topology.kubernetes.io/zone: zone-%s, from-%s: here, to-%s: here}}}\n' "$1" "$1" "$1" "$1"
    pods many "$1" 1 ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
        {matchExpressions: [{key: from-$1, operator: Exists}]}, {matchExpressions: [{key: to-$2, operator: Exists}]}]}}}"
}
for letter in ab bc cd de ef fg gh hi ia; do zoned ${letter%?} ${letter#?}; done >"$work/unknown.yaml"
run topology --state "$work/unknown.yaml" -o json
is "topology: JSON has no numbers of what is unknown" "$code $(jq -c '.workloads[] | [.state, has("skew"), has("bestSkew")]' <<<"$out")" \
    '0 ["unknown",false,false]'
run topology --state "$work/unknown.yaml" --max-skew 5
is "topology: what is unknown is no success" "$code $err" \
    '3 evenkeel topology: no skew is known of 1 workload and 0 pods that were not measured'
like "... and has no numbers" "$(tr -s ' ' <<<"$out")" 'shop many Deployment 9 - - unknown'
run topology shop/many --state "$work/unknown.yaml"
like "... nor by name" "$code $out" '^0 [^;]*unknown: it is not known where'
head -n 2 "$work/unknown.yaml" >"$work/empty.yaml"
run topology --state "$work/empty.yaml" --max-skew 1
is "topology: nothing to measure" "$code $err" \
    '0 evenkeel topology: there is nothing to measure: no pod of a workload is on a node'

# 20,000 workloads of a namespace are measured.
awk 'BEGIN {
    print "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\",\"labels\":{\"topology.kubernetes.io/zone\":\"z\"}}}"
    for (i = 0; i <= 20000; i++)
        printf ",{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"p%d\",\"namespace\":\"shop\",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\"," \
               "\"kind\":\"StatefulSet\",\"name\":\"w%d\",\"controller\":true}]},\"spec\":{\"nodeName\":\"a\"}}\n", i, i
    print "]}"
}' >"$work/beyond.json"
run topology --state "$work/beyond.json" --max-skew 5
like "topology: what was not measured is no success" "$code $err" \
    '^3 .*no skew is known of 0 workloads and 1 pods that were not measured'
run topology shop/w7 --state "$work/beyond.json" --max-skew 5
is "... but does not matter for what was" "$code" 0
run topology shop/w20000 --state "$work/beyond.json"
like "topology: a workload beyond the limit" "$code $err" '^1 .*workload shop/w20000 is not measured: it is beyond the limit of 20000 workloads of its namespace'
{
    cat "$work/even.yaml"
    pods pending '' 1 | sed 's/nodeName: //'
} >"$work/pending.yaml"
run topology shop/pending --state "$work/pending.yaml"
like "topology: a workload without a node" "$code $out" '^0 .*shop/pending, 0 pods and 1 Pending.*unknown'
run topology --state "$work/beyond.json"
is "topology: a thousand workloads are for people" "$(wc -l <<<"$out") $(tail -n 1 <<<"$out")" "1007 and 19000 more; -o json has all"
{
    cat "$work/empty.yaml"
    pods "$(printf 'x%.0s' {1..240})" a 1
    pods '"w\eb' a 1 | sed 's/labels: [^ ]* [^ ]* ownerReferences: .{apiVersion: apps.v1, kind: ReplicaSet, name: "w.eb-5d,/ownerReferences: [{apiVersion: apps\/v1, kind: StatefulSet, name: "w\\eb",/; s/metadata: {name: [^ ]*,/metadata: {name: w,/'
} >"$work/long.yaml"
run topology --state "$work/long.yaml"
like "topology: one long name does not make every line long" "$(awk 'length > 200' <<<"$out" | wc -l) $out" '^0 .*shop +x{77}\.\.\. +Deployment'
run topology shop/w$'\e'b --state "$work/long.yaml"
like "topology: no control characters in a heading" "$code $out" '^0 StatefulSet shop/w\?b, 1 pods'
run topology shop/w$'\e'c --state "$work/long.yaml"
like "... or an error" "$code $err" '^1 .*shop/w\?c is measured'
run topology --state "$work/even.yaml" --by zone
like "topology: a short name of a key" "$code $out" "^0 $zone: 3 domains"
run topology nodes --state "$work/even.yaml" --by zone -o json
is "... of nodes" "$code $(jq -c '.nodes[0].domains' <<<"$out")" "0 {\"$zone\":\"zone-a\"}"
run topology --state "$work/even.yaml" --by rack
like "... and no other" "$code $err" "^1 .*no node has the label 'rack'"

# 20 pages are one report again.
start_server --state "$work/beyond.json"
curl -fs --retry 20 -o /dev/null "http://$ops/topology?limit=1" || true # it waits for the first report
run topology --server "http://$ops" -o json
asked=$(jq -Sc . <<<"$out" | md5sum)
run topology --state "$work/beyond.json" -o json
is "topology: a daemon's pages" "$asked" "$(jq -Sc . <<<"$out" | md5sum)"
run topology --server "http://$ops" --by zone --max-skew 5
like "... by a short name of the key" "$code $out" "^3 $zone: 1 domains"
run topology --server "http://$ops" --by 'ab&limit=1#x'
like "... not by what is no key" "$code $err" '^1 .*a topology key, namespace or name has letters, digits'
stop_server INT

# ---- streams ----

full_disk() { # COMMAND ARGUMENT...
    local said code=0
    said=$({ "$evenkeel" "$@" >/dev/full; } 2>&1) || code=$?
    is "$1${2+ $2}: a full disk is not a success" "$code $said" "1 evenkeel $1: cannot write to standard output"
}
full_disk simulate --state "$state" --pod "$pod"
full_disk version
full_disk version --help
full_disk serve --help
full_disk certs --help
is "--help: a full disk is not a success" "$({ "$evenkeel" --help >/dev/full; } 2>&1 || echo "$?")" \
    $'evenkeel: cannot write to standard output\n1'
finish_tests

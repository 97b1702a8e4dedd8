#!/usr/bin/env bash
# kubectl evenkeel, with a kubectl that runs the real binary for `exec`: what it is called with, which files
# it is sent, and what it says when something is missing; under every POSIX shell that is here.
. "$(dirname "$0")/lib.sh"

plugin=$PWD/charts/kubectl/kubectl-evenkeel
mkdir "$work/bin" "$work/laptop"
export PODS=$work/pods CALLS=$work/calls FAULT='' SERVER=https://one.example:6443 EVENKEEL_NAMESPACE=evenkeel XDG_CONFIG_HOME=$work/config
EVENKEEL=$(realpath "$evenkeel")
export EVENKEEL

# kubectl: its arguments go to $CALLS, pods come from $PODS, of whichever namespace, `exec` runs the binary. FAULT makes
# it refuse, or be somebody else.
cat >"$work/bin/kubectl" <<'END'
#!/bin/bash
printf '[%s]' "$@" >>"$CALLS"
echo >>"$CALLS"
while [[ $1 == --* ]]; do shift; done
case $1 in
config) [[ $* == *cluster.server* ]] && printf %s "$SERVER" || printf shop ;;
get)
    [ "$FAULT" != list ] || { echo 'Error from server (Forbidden): pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "evenkeel"' >&2; exit 1; }
    [ "$2" = pods ] && exec cat "$PODS"
    [ "$3" = "${POD##*/}" ] && exec cat "$POD"
    echo "Error from server (NotFound): pods \"$3\" not found" >&2
    exit 1
    ;;
exec)
    [ "$FAULT" != exec ] || { echo 'Error from server (Forbidden): pods "a" is forbidden: User "jane" cannot create resource "pods/exec" in API group "" in the namespace "evenkeel"' >&2; exit 1; }
    [ "$FAULT" != old ] || { printf "evenkeel: unknown command 'remote'\n" >&2; exit 2; }
    [ "$FAULT" != short ] || exec < <(head -c 100)
    [ "$FAULT" != nested ] || { printf 'a\302\302\233\2335mb\302\177\2335mc\n'; exit 0; }
    [ "$FAULT" != screen ] || { printf 'a\033]0;pwned\007\033[2Jb\r\tc\302\2335m\303\251\177\n'; printf 'd\033[1m\n' >&2; exit 3; }
    while [ "$1" != -- ]; do shift; done
    [ "$2" = /usr/bin/evenkeel ] || { echo "exec: $2: no such file" >&2; exit 127; }
    shift 2
    cd /
    if [ "$FAULT" = silent ] && [[ " $* " == *' --no-api-server '* ]]; then
        echo 'error: unable to upgrade connection: container not found ("evenkeel")' >&2
        exit 1
    fi
    KUBECONFIG=/dev/null "$EVENKEEL" "$@"
    code=$?
    [ $code -eq 0 ] || echo "command terminated with exit code $code" >&2
    exit $code
    ;;
esac
END
chmod +x "$work/bin/kubectl"
state=$work/state.json pod=$PWD/$example/pod.json policy=$PWD/$example/policy.yaml
jq '(.items[] | select(.kind == "Pod" and .metadata.labels.app == "web").metadata.ownerReferences) =
    [{apiVersion: "apps/v1", kind: "StatefulSet", name: "web", controller: true}]' "$example/state.json" >"$state"

shells=(dash 'bash --posix')
! command -v busybox >/dev/null || shells+=('busybox sh')

plugin() { # ARGUMENT...: in $code, $out, $err and $calls
    : >"$CALLS"
    code=0
    # shellcheck disable=SC2086  # words of a shell
    out=$(cd "$work/laptop" && PATH=$work/bin:$PATH $shell "$plugin" "$@" 2>"$work/err") || code=$?
    err=$(<"$work/err") calls=$(<"$CALLS")
}

# The daemon of one replica; the other one is the test's own child.
start_server --state "$state" --ops-listen 127.0.0.1:0
first=${ops#*:}
call filter < <(filter_request "$pod" "$state") >"$work/filter.json"
mkfifo "$work/second"
"$evenkeel" serve --state "$state" --extender-listen 0 --ops-listen 127.0.0.1:0 --webhook-listen 127.0.0.1:0 \
    --webhook-cert-file "$certs/tls.crt" --webhook-key-file "$certs/tls.key" 2>"$work/second" &
children+=($!)
exec 4<"$work/second"
while IFS= read -r line <&4; do [[ $line == *msg=serving* ]] && break; done
second=$(sed -E 's/.* ops=127.0.0.1:([0-9]+).*/\1/' <<<"$line")
cat <&4 >/dev/null &
children+=($!)
name=$(jq -r '.metadata.namespace + "/" + .metadata.name' "$pod")

curl -fs --retry 20 -o /dev/null "http://127.0.0.1:$first/topology?limit=1" || true # it waits for the first report

export POD=$work/pods.d/${name#*/}
mkdir "$work/laptop/policies" "${POD%/*}"
jq '.metadata.creationTimestamp = "2026-01-01T00:00:00Z" | .status = {phase: "Pending", conditions: [{type: "PodScheduled", status: "False", reason: "SchedulingGated"}]}
    | .spec.schedulingGates = [{name: "example.com/wait"}]' "$pod" >"$POD"
cp "$policy" "$work/laptop/policies/it's one.yaml"
echo nonsense >"$work/laptop/policies/notes.txt"
cp "$pod" "$work/laptop/my pod.json"
cp "$state" "$work/laptop/state.json"
door='ek-webhook|ek-webhook-5d4f' # the service account and the ReplicaSet of a pod of the chart
two() { printf '%s\n' "evenkeel|a|$second|false||$door" "evenkeel|b|$first|true||$door" "evenkeel|gone|1|true|2026-01-01T00:00:00Z|$door" >"$PODS"; }

for shell in "${shells[@]}"; do
    two
    plugin topology --state state.json -o json
    is "$shell: topology of a file" "$code $err $(jq -Sc . <<<"$out")" "0  $("$evenkeel" topology --state "$state" -o json | jq -Sc .)"
    is "... in the pod that is ready" "$(sed -n 2p <<<"$calls" | cut -d ']' -f 1-5)]" \
        "[exec][--stdin][--namespace=evenkeel][--container=evenkeel][b]"
    like "... which is looked for by its label, in one namespace" "$calls" \
        '^\[get\]\[pods\]\[--namespace=evenkeel\]\[--selector=app.kubernetes.io/part-of=evenkeel\]\[--field-selector=status.phase=Running\]\[--output\]'
    plugin topology --state - -o json <"$state"
    is "... of standard input" "$code $(jq -Sc . <<<"$out" | md5sum)" "0 $("$evenkeel" topology --state "$state" -o json | jq -Sc . | md5sum)"
    plugin topology --state state.json --max-skew 0
    is "... and its exit code" "$code" 3
    unlike "... without a word of kubectl" "$err" terminated
    plugin simulate --pod "my pod.json" --state state.json -o json
    is "simulate: what the binary says" "$code $err $out" "0  $("$evenkeel" simulate --pod "$pod" --state "$state" -o json)"
    plugin simulate --pod "my pod.json"
    like "... in the cluster" "$calls" "\[[0-9]+:my pod.json\]\[--\]\[simulate\]\[--pod\]\[my pod.json\]\[--in-cluster\]$"
    plugin simulate --pod missing.yaml
    is "... a file that is not there" "$code $err" "1 kubectl evenkeel: there is no file 'missing.yaml'"
    plugin simulate --pod policies/notes.txt --state state.json
    like "... a file that is no pod is named as here" "$code $err" "^1 evenkeel simulate: .*policies/notes.txt"

    plugin check policy policies --state state.json -o json
    is "check policy: a folder" "$code $err $out" \
        "$("$evenkeel" check policy "$policy" --state "$state" -o json >"$work/wanted" && echo 0 || echo $?)  $(<"$work/wanted")"
    like "... of which the manifests are sent" "$calls" "\[[0-9]+:policies/it's one.yaml\]\[[0-9]+:state.json\]\[--\]\[check\]\[policy\]\[policies/it's one.yaml\]"
    plugin check config policies/notes.txt
    like "check config" "$code $out" '^1 .*policies/notes.txt'

    # The decision is b's; a knows nothing of it.
    plugin explain "$name" -o json
    is "explain: the decisions of all replicas" "$code $(jq -c '[[.replicas[] | [.server, .answered]], (.decisions | length), .decisions[0].replica]' <<<"$out")" \
        '0 [[["b",true],["a",true]],1,"b"]'
    like "... the pod itself is read as who asks, and judged" "$(jq -c '[.podFrom, .cause.kind, (.now | has("decisions"))]' <<<"$out")$calls" \
        "^\[\"pod.json\",\"SchedulingGates\",true\].*\[get\]\[pod\]\[${name#*/}\]\[--namespace=${name%/*}\]\[--output=json\]"
    [ "$shell" = dash ] || continue

    plugin topology
    like "topology of the daemon" "$code $out $calls" "^0 .*shop +web.*\[topology\]\[--server=http://127.0.0.1:$first\]$"
    unlike "... sends no standard input" "$calls" stdin
    plugin topology web -n shop --context=far --install-namespace evenkeel
    like "... of one workload, of another context" "$calls" \
        $'^\\[--context=far\\]\\[get\\]\\[pods\\]\\[--namespace=evenkeel\\].*\n\\[--context=far\\]\\[exec\\].*\\[topology\\]\\[shop/web\\]'
    cp "$pod" "$work/laptop/-v"
    plugin simulate --pod -v --state state.json -o json
    is "... a file with the name of an option" "$code $err $(md5sum <<<"$out")" "0  $("$evenkeel" simulate --pod "$pod" --state "$state" -o json | md5sum)"
    plugin topology web -n=shop
    like "... -n=NAMESPACE" "$calls" '\[topology\]\[shop/web\]'
    plugin topology web
    like "... of the context's namespace" "$calls" '\[topology\]\[shop/web\]'
    plugin topology -n shop
    like "... of a namespace without a name" "$code $err" "^2 .*of namespace 'shop' which workload"

    printf '%s\n' "evenkeel|a|$second|true||$door" "evenkeel|b|$first|true||$door" >"$PODS"
    plugin explain "${name#*/}" -n "${name%/*}" -o json
    is "... asked of the other" "$code $(jq -c '[[.replicas[] | [.server, .answered]], (.decisions | length), .decisions[0].replica]' <<<"$out")" \
        '0 [[["a",true],["b",true]],1,"b"]'
    plugin explain recent
    like "... the recent ones" "$code $out" "^0 .*${name#*/}"
    FAULT=silent plugin explain "$name"
    like "... one that does not answer" "$code $out" "1 of 2 replicas answered"
    plugin explain shop/nobody
    like "... of nobody" "$code $err" '^1 kubectl evenkeel: the pod itself is not read: .*NotFound.*evenkeel explain: .*shop/nobody'
    plugin explain what-if "my pod.json"
    like "... what if" "$code $out" '^0 .*eu-west'

    FAULT=list plugin topology
    like "not allowed to look for it" "$code $err" '^1 .*Forbidden.*cannot look for the pods of Evenkeel in namespace evenkeel$'
    FAULT='exec' plugin topology
    like "not allowed to exec" "$code $err" '^1 .*Forbidden.*kubectl auth can-i create pods/exec -n evenkeel$'
    FAULT=old plugin topology
    like "an older Evenkeel" "$code $err" "^1 .*is older than this plugin"
    FAULT=short plugin topology --state state.json
    like "a connection that loses bytes" "$code $err" '^1 .*of [0-9]+ bytes of files only 100 came through'
    : >"$PODS"
    EVENKEEL_NAMESPACE=ek plugin topology
    is "no replica" "$code $err" "1 kubectl evenkeel: no pod of the chart, with the label app.kubernetes.io/part-of=evenkeel, runs in namespace ek; is Evenkeel installed there, in this cluster?"

    # Who else has such pods is not asked, and gets no file.
    for other in "shop|x|1|true||$door" 'evenkeel|x|1|true||default|web-5d4f' 'evenkeel|x|1|true||ek-webhook|' 'evenkeel|x|1|true|||' \
        'evenkeel|x|1|true||ek-webhook|ek-webhook' 'evenkeel|x||true||ek-webhook|ek-webhook-5d4f' 'evenkeel|x|1;id|true||ek-webhook|ek-webhook-5d4f'; do
        echo "$other" >"$PODS"
        plugin simulate --pod "my pod.json" --state state.json
        like "a pod that is none of the chart's: $other" "$code $err" '^1 .*no pod of the chart'
        unlike "... gets nothing" "$calls" exec
    done
    two
    printf '%s\n' "aaa|x|1|true||$door" >>"$PODS"
    plugin explain recent
    is "... beside the chart's own" "$code $(grep -c '\[exec\]' <<<"$calls") $(grep -c '\]\[x\]' <<<"$calls")" '0 2 0'
    FAULT=screen plugin topology
    is "what would change the terminal is left out" "$code $(od -An -c <<<"$out"$'\n'"$err" | tr -s ' \n' ' ')" \
        "3 $(printf 'a]0;pwned[2Jb\tc?5m\303\251\nd[1m\n' | od -An -c | tr -s ' \n' ' ')"
    FAULT=nested plugin topology
    is "... also what would be there once something is left out" "$code $(od -An -c <<<"$out" | tr -s ' \n' ' ')" \
        "0 $(printf 'a\302?\2335mb?5mc\n' | od -An -c | tr -s ' \n' ' ')"

    # A name is no option, wherever it stands.
    cp "$pod" "$work/laptop/--server=x"
    for words in 'topology -- --server=http://127.0.0.1:1' 'explain recent -- --server=http://127.0.0.1:1' 'explain pod -- -v' \
        'topology web -n --server=x' 'topology web -n=-v' 'check policy -- --server=x' 'explain what-if -- --server=x' 'version -- --token-file=/x'; do
        # shellcheck disable=SC2086 # words
        plugin $words
        like "no option gets through: $words" "$code $err" "^2 .*looks like an option"
        unlike "... nobody is asked" "$calls" '\[get\]|\[exec\]'
    done
    plugin check policy --state state.json -- "policies/it's one.yaml"
    like "... other words behind -- do" "$calls" "\[check\]\[policy\]\[policies/it's one.yaml\]"

    # The namespace is named once for each cluster.
    rm -r "$work/config"
    EVENKEEL_NAMESPACE='' plugin topology
    like "without a namespace" "$code $err" '^2 .*in which namespace is Evenkeel installed'
    is "... nobody is asked" "$calls" ''
    EVENKEEL_NAMESPACE='' plugin topology --install-namespace nowhere
    like "... a wrong one" "$code $err" '^1 .*runs in namespace nowhere'
    EVENKEEL_NAMESPACE='' plugin topology --install-namespace 'a b'
    like "... one that is no name" "$code $err" "^2 .*'a b' is no name of a namespace"
    check "... is not remembered" test ! -e "$work/config/evenkeel/clusters"
    EVENKEEL_NAMESPACE='' plugin topology --install-namespace evenkeel
    is "... the right one" "$code" 0
    EVENKEEL_NAMESPACE='' plugin topology --context=far
    like "... is remembered" "$code $calls" $'^0 \\[--context=far\\]\\[config\\].*\n\\[--context=far\\]\\[get\\]\\[pods\\]\\[--namespace=evenkeel\\]'
    EVENKEEL_NAMESPACE='' SERVER=https://two.example plugin topology
    like "... of this cluster only" "$code $err" '^2 .*in which namespace'
    sed -i 's/^evenkeel/ek/' "$PODS"
    EVENKEEL_NAMESPACE='' SERVER=https://two.example plugin topology --install-namespace ek
    is "... another cluster's is another" "$code $(<"$work/config/evenkeel/clusters")" $'0 https://one.example:6443 evenkeel\nhttps://two.example ek'
    EVENKEEL_NAMESPACE='' plugin topology --install-namespace ek
    is "... it may change" "$code $(<"$work/config/evenkeel/clusters")" $'0 https://two.example ek\nhttps://one.example:6443 ek'
    EVENKEEL_NAMESPACE=elsewhere plugin topology
    like "... the environment says more" "$code $err" '^1 .*namespace elsewhere'
    rm -r "$work/config"
    two
    KUBECTL=kubectl-9 plugin topology
    is "no kubectl" "$code $err" "1 kubectl evenkeel: cannot find 'kubectl-9'; install it, or name it in KUBECTL"
    plugin topologies
    like "no such command" "$code $err" "^2 .*unknown command 'topologies'"
    plugin topology --server http://x
    like "an option that is none here" "$code $err" '^2 .*--server is for evenkeel where it runs'
    plugin simulate --pod
    like "an option without its value" "$code $err" "^2 .*option '--pod' needs a value"
    two
    plugin simulate --pdo "my pod.json"
    like "an option with a typo" "$code $err" "^2 .*unknown option '--pdo'; did you mean --pod"
    plugin simulate --help
    like "help of a command is the command's" "$code $out" '^0 Usage: evenkeel simulate'
    plugin --help
    like "help" "$code $out" '^0 Ask the Evenkeel'
    is "... calls nobody" "$calls" ''
done

# The plugin's list of options without a value is the binary's.
switches() {
    for command in explain topology simulate 'check config' 'check policy' 'check workload' 'check cluster' 'check estimator'; do
        # shellcheck disable=SC2086  # words
        "$evenkeel" $command "$(case $command in explain | 'check estimator') echo --help ;; *) echo --help-serve ;; esac)" | sed -nE 's/^ {2,6}(-., )?(--[a-z-]+)( {2}.*)?$/\2/p' | grep -vx -- --help-serve
    done | sort -u
}
listed() { sed -n '/^is_switch/,/^}/p' "$plugin" | grep -oE -- '--[a-z-]+' | sort -u; }
is "options without a value" "$(listed)" "$(switches)"

# What a file's name may do to the binary.
remote() {
    code=0
    out=$("$evenkeel" remote "$@" 2>&1 </dev/null) || code=$?
}
remote 3:x -- certs init
like "remote: nothing that writes" "$code $out" "^2 .*'certs' does not run here"
remote x -- version
like "remote: no length" "$code $out" "^2 .*expected BYTES:PATH, not 'x'"
remote 67108865:x -- version
like "remote: too much" "$code $out" '^2 .*more than 64 MiB'
remote 9223372036854775807:x -- version
like "remote: far too much" "$code $out" '^2 .*more than 64 MiB'
remote 3:x -- version
like "remote: too little" "$code $out" '^1 .*of 3 bytes of files only 0 came'
remote version
like "remote: no --" "$code $out" "^2 .*expected BYTES:PATH, not 'version'"
remote --
like "remote: no command" "$code $out" '^2 .*which COMMAND'
remote 0:x.yaml -- simulate --pod x.yaml --state docs/examples/three-regions/state.json
like "remote: an empty file" "$code $out" '^1 .*0 documents; expected one Pod'
is "remote: no file" "$(remote -- version && echo "$code")" 0

# ---- the archive for krew ----

pack() { SOURCE_DATE_EPOCH=1000000000 RELEASE_URL=https://files.example.com/e charts/kubectl/package.sh "$work/$1" >/dev/null; }
pack krew && pack again
archive=$work/krew/kubectl-evenkeel-$("$evenkeel" version -o json | jq -r .version).tar.gz
check "the archive is the same twice" cmp "$archive" "$work/again/${archive##*/}"
like "its manifest has its address and checksum" "$(<"$work/krew/evenkeel.yaml")" \
    "uri: https://files.example.com/e/${archive##*/}"$'\n'" +sha256: $(sha256sum "$archive" | cut -d ' ' -f 1)"
is "what is in it" "$(tar -tvzf "$archive" | awk '{ print $1, $NF }' | paste -s -d ,)" '-rwxr-xr-x kubectl-evenkeel,-rw-r--r-- LICENSE'
stop_server INT
finish_tests

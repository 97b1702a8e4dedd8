#!/usr/bin/env bash
# The Helm chart, without a cluster: every file of values/ renders, what is rendered is a configuration
# that Evenkeel takes, what cannot work is refused with a sentence (chart/), and values, schema and README agree.
# That API servers take it: tests/e2e/kube/chart_test.go.
. "$(dirname "$0")/../integration/lib.sh"
helm=${HELM:-build/tools/helm}
unittest=build/tools/helm-unittest
chart=charts/evenkeel
values=tests/packaging/values
parts=$work/parts

render() { # RELEASE NAMESPACE [OPTION...]
    "$helm" template "$1" $chart --namespace "$2" --kube-version 1.36.0 "${@:3}" 2> >(grep -v 'found symbolic link' >&2)
}

evenkeel_yaml() { # FILE: the configurations in it, each into $parts/configuration-N and $parts/scheduler-N
    rm -rf "$parts"
    mkdir "$parts"
    awk -v folder="$parts/" '
        inside && !/^    / { inside = 0 }
        /^  evenkeel.yaml: \|/ { inside = 1; out = folder "configuration-" ++n; next }
        /^  scheduler.yaml: \|/ { inside = 1; out = folder "scheduler-" n; next }
        inside { print substr($0, 5) > out }' "$1"
}

# ---- what renders ----

check "helm lint finds nothing" "$helm" lint --strict $chart --kube-version 1.36.0 --quiet
check "there are 25 files of values" test "$(find $values -name '*.yaml' | wc -l)" -ge 25
for file in "$values"/*.yaml; do
    name=${file##*/}
    name=${name%.yaml}
    if ! render evenkeel evenkeel --values "$file" >"$work/$name.yaml" 2>"$work/err"; then
        fail "$name renders" "$(cat "$work/err")"
        continue
    fi
    evenkeel_yaml "$work/$name.yaml"
    wrong=
    for configuration in "$parts"/configuration-*; do
        "$evenkeel" check config "$configuration" >"$work/findings" 2>&1 || wrong+=$(cat "$work/findings")
    done
    is "$name: Evenkeel takes the configuration" "$wrong" ''
    for scheduler in "$parts"/scheduler-*; do
        [ -e "$scheduler" ] || continue
        findings=$("$evenkeel" check kube-scheduler-config "$scheduler" \
            --config "$parts/configuration-${scheduler##*-}" -o json | jq -c '.findings[] | select(.severity == "error")')
        is "$name: kube-scheduler's goes with it" "$findings" ''
    done
    is "$name: no certificate and no caBundle" \
        "$(grep -nE '^ *(caBundle:|(tls|ca)\.(crt|key):|- *caBundle:)|BEGIN [A-Z ]*(CERTIFICATE|KEY)' "$work/$name.yaml" || true)" ''
done

# ---- rights ----

# Kinds of objects with a rule about Events.
event_rules() { render evenkeel evenkeel --show-only templates/rbac.yaml "$@" | awk '/^kind:/ { kind = $2 } /events.k8s.io/ { print kind }' | sort | uniq -c | xargs; }
is "Events about workloads are in their namespaces" "$(event_rules)" '1 ClusterRole'
is "without them the rights are narrow" "$(event_rules --set config.events.unevenAfter=0s)" '2 Role'
event_namespaces() { # OPTION...: where Roles let somebody write Events
    render evenkeel "${release_in:-evenkeel}" --show-only templates/rbac.yaml "$@" |
        awk '/^kind:/ { kind = $2 } /^  namespace:/ && kind == "Role" { namespace = $2 } /events.k8s.io/ { print namespace }' | sort | paste -sd' '
}
some=(--set 'config.events.namespaces={shop,bank,evenkeel}')
is "or in the namespaces that are named" "$(event_rules "${some[@]}")" '4 Role'
is "and in those" "$(event_namespaces "${some[@]}")" 'bank default evenkeel shop'
is "which count for nothing if there are no such Events" "$(event_namespaces "${some[@]}" --set config.events.unevenAfter=0s)" 'default evenkeel'
is "a release in default needs one there" "$(release_in=default event_namespaces --set config.events.unevenAfter=0s)" 'default'
is "the daemon knows them" "$(render evenkeel evenkeel "${some[@]}" >"$work/some" && evenkeel_yaml "$work/some" && jq -c .events.namespaces "$parts/configuration-1")" \
    '["shop","bank","evenkeel"]'

refused() { ! render evenkeel evenkeel "$@" >"$work/out" 2>&1; }

# Rules that let somebody change nodes.
node_rules() { render evenkeel evenkeel --show-only templates/rbac.yaml "$@" | grep -A2 -- '- nodes$' | grep -c -- '- patch' || true; }
is "nobody may patch nodes" "$(node_rules --set extender.enabled=true)" 0
is "unless nodes are to be labelled" "$(node_rules --set webhook.fluid.labelLeavingNodes=true --set extender.enabled=true)" 1

# Nothing is granted that nobody names: of no file of values.
is "no rule has a wildcard" "$(awk 'FNR == 1 { inside = 0 } /^rules:/ { inside = 1 } /^(---|roleRef:)/ { inside = 0 } inside && /\*/ { print FILENAME ": " $0 }' "$work"/*.yaml)" ''
check "there are rules to look at" test "$(cat "$work"/*.yaml | grep -c '^rules:')" -ge 50

# What may be read of single objects that are neither listed nor watched, as RESOURCE.GROUP.
read_rules() { # OPTION...
    render evenkeel evenkeel --show-only templates/rbac.yaml "$@" | awk '
        function done(  i) { if (verbs == "get") for (i = 1; i <= n; i++) print resources[i] "." group }
        /^- apiGroups:/ { done(); n = 0; verbs = ""; part = "group"; next }
        /^  [a-zA-Z]+:/ { part = substr($1, 1, length($1) - 1); next }
        /^[^ -]/ { done(); n = 0; verbs = "" }
        /^  - / && part == "group" { group = $2 }
        /^  - / && part == "resources" { resources[++n] = $2 }
        /^  - / && part == "verbs" { verbs = verbs $2 }' | sort | paste -sd' '
}
is "what custom controllers select is read of those that are named" "$(read_rules --set 'webhook.owners={widgets.example.com,things.example.com}')" \
    'persistentvolumeclaims."" things/scale.example.com widgets/scale.example.com'
is "or of none" "$(read_rules --set-json webhook.owners=[])" 'persistentvolumeclaims.""'
validated=(--set webhook.validating.enabled=true --set-json webhook.owners=[])
is "who stands behind units is read where pods are validated" \
    "$(read_rules "${validated[@]}" --set 'webhook.validating.units={jobsets.jobset.x-k8s.io}')" \
    'jobs.batch jobsets.jobset.x-k8s.io persistentvolumeclaims."" pods."" statefulsets.apps'
is "if there are any" "$(read_rules "${validated[@]}" --set-json webhook.validating.units=[])" 'persistentvolumeclaims.""'
check "a resource without a group is refused" refused --set 'webhook.owners={pods}'

# ---- a hub ----

# Each right of the ClusterRoles in files, of a document or rendered, as "GROUP RESOURCE VERB".
rights() { # FILE...
    awk '
        function done(  i, j, k) {
            for (i = 1; i <= n["apiGroups"]; i++) for (j = 1; j <= n["resources"]; j++) for (k = 1; k <= n["verbs"]; k++)
                print item["apiGroups", i], item["resources", j], item["verbs", k]
            delete n
        }
        function add(text) { gsub(/"/, "", text); item[part, ++n[part]] = text == "" ? "core" : text }
        { sub(/ +#.*/, "") }
        /^kind:/ { cluster = $2 == "ClusterRole" }
        /^- apiGroups:/ { done() }
        /^[a-z-]/ && !/^- apiGroups:/ { done() }
        cluster && /^(- |  )[a-zA-Z]+:/ {
            part = $0; sub(/^(- |  )/, "", part); sub(/:.*/, "", part)
            if (match($0, /\[.*\]/)) { count = split(substr($0, RSTART + 1, RLENGTH - 2), list, /, */); for (x = 1; x <= count; x++) add(list[x]) }
            next
        }
        cluster && /^  - / { add($2) }
        END { done() }' "$@" | sort -u
}
documents_rights() { rights docs/examples/kubernetes/rbac-hub.yaml docs/examples/kubernetes/rbac-ocm.yaml; }
check "there are rights to compare" test "$(documents_rights | wc -l)" -ge 20
render evenkeel evenkeel --values $values/ocm.yaml --set config.ocm.scores=true --show-only templates/rbac.yaml >"$work/hub"
is "a hub has the rights of the documents" "$(rights "$work/hub")" "$(documents_rights)"
of_scores='cluster.open-cluster-management.io addonplacementscores'
score_rights() { render evenkeel evenkeel --values $values/ocm.yaml "$@" --show-only templates/rbac.yaml >"$work/hub" && rights "$work/hub" | sed -n "s|^$of_scores||p" | paste -sd,; }
is "where no mode Scores is asked for it writes no scores" "$(score_rights)" ' get, list, watch'
is "and has all other rights" "$(rights "$work/hub")" "$(documents_rights | grep -vxF -e "$of_scores create" -e "$of_scores/status patch")"
is "with mode Scores it does" "$(score_rights --set config.ocm.mode=Scores)" ' create, get, list, watch,/status patch'
render evenkeel evenkeel --values $values/ocm-placements.yaml --show-only templates/rbac.yaml >"$work/hub"
is "and where Placements are asked about that to its own configuration" \
    "$(rights "$work/hub" | grep -vxFf <(documents_rights) | paste -sd,)$(sed -n '/- evenkeel.evenkeel/p' "$work/hub")" \
    'admissionregistration.k8s.io mutatingwebhookconfigurations list,admissionregistration.k8s.io mutatingwebhookconfigurations patch,admissionregistration.k8s.io mutatingwebhookconfigurations watch  - evenkeel.evenkeel.placements'
is "or none, if somebody else keeps it" \
    "$(render evenkeel evenkeel --values $values/ocm-secret.yaml --set webhook.enabled=false --show-only templates/rbac.yaml | grep -c webhookconfigurations || true)" 0
is "nobody there may write Secrets that he need not" \
    "$(render evenkeel evenkeel --values $values/ocm-secret.yaml --set webhook.enabled=false --show-only templates/rbac.yaml | grep -A4 -- '- secrets$' | sed -n 's/^ *- //p' | paste -sd' ')" \
    'secrets list watch'
hub_setting() { # JQ OPTION...
    render evenkeel ours --set webhook.enabled=false --set ocm.enabled=true "${@:2}" >"$work/hub"
    evenkeel_yaml "$work/hub"
    jq -c "$1" "$parts/configuration-1"
}
is "its Lease is the one that is granted, and laid out" \
    "$(hub_setting .leaderElection.leaseName) $(grep -A1 'resourceNames:' "$work/hub" | sed -n 's/^ *- //p') $(render evenkeel ours --set ocm.enabled=true | awk '/^kind: Lease/ { f = 1 } f && /^  name:/ { print $2; f = 0 }' | grep -c '^evenkeel-ocm$')" \
    '"evenkeel" evenkeel-ocm 1'
is "no listener is on" "$(hub_setting '[.webhook.listen, .extender.listen]')" '["0","0"]'
is "pods are nobody's business" "$(hub_setting '[.webhook.listen, .webhook.pods, .extender.listen, .ocm.enabled]' --set placements.enabled=true)" '[":9443",false,"0",true]'
is "settings of a hub are its door's" \
    "$(hub_setting .ocm --set config.ocm.settleAfter=1m --set config.ocm.mode=Off)" '{"enabled":true,"mode":"Off","scores":false,"settleAfter":"1m"}'
is "its configuration says what it may" \
    "$(hub_setting .ocm.scores; hub_setting .ocm.scores --set config.ocm.mode=Scores; hub_setting .ocm.scores --set config.ocm.scores=true)" $'false\ntrue\ntrue'
is "and no other door's" \
    "$(hub_setting .ocm --set webhook.enabled=true --set config.ocm.mode=Off; jq -c .ocm "$parts/configuration-2")" $'{"enabled":true,"mode":"Off","scores":false}\nnull'
is "nothing of a hub is left where the door is off" \
    "$(render evenkeel evenkeel | grep -v '^ ' | grep -c cluster-management; render evenkeel evenkeel --show-only templates/rbac.yaml | grep -c cluster-management || true)" $'0\n0'

# ---- an estimator ----

member_rights() { # EXCLUDING: those of the document
    rights docs/examples/kubernetes/rbac-member.yaml | grep -v "$1"
}
check "there are rights of a member to compare" test "$(member_rights none | wc -l)" -eq 10
render evenkeel evenkeel --values $values/estimator.yaml --show-only templates/rbac.yaml >"$work/estimator-rights"
is "this cluster as a member gives the rights of the document" "$(rights "$work/estimator-rights")" "$(member_rights resourcequotas)"
render evenkeel evenkeel --values $values/estimator.yaml --set config.estimator.resourceQuota=true --show-only templates/rbac.yaml >"$work/estimator-rights"
is "... with those to quotas where these count" "$(rights "$work/estimator-rights")" "$(member_rights none)"
estimator_setting() { # JQ OPTION...
    render evenkeel ours --set webhook.enabled=false "${@:2}" >"$work/estimator-rendered"
    evenkeel_yaml "$work/estimator-rendered"
    jq -c "$1" "$parts/configuration-1"
}
is "nothing else is on" "$(estimator_setting '[.webhook.listen, .extender.listen, .ocm]' --values $values/estimator.yaml)" '["0","0",null]'
is "this cluster is asked by the pod's own account" \
    "$(estimator_setting '[.kubernetes.inCluster, .estimator.members, .estimator.certFile]' --values $values/estimator.yaml)" '[true,["member1"],null]'
is "other clusters alone by their kubeconfigs" \
    "$(estimator_setting '[.kubernetes.inCluster, .estimator]' --values $values/estimator-members.yaml)" \
    '[false,{"allowedSubjects":["system:karmada-scheduler"],"certFile":"/etc/evenkeel/tls/server.crt","clientCAFile":"/etc/evenkeel/client-ca/server-ca.crt","keyFile":"/etc/evenkeel/tls/server.key","listen":":20352","members":["member1=/etc/evenkeel/members/member1-kubeconfig/kubeconfig","member2=/etc/evenkeel/members/all-kubeconfigs/two.yaml","member3=/etc/evenkeel/members/all-kubeconfigs/three.yaml#admin@member3"],"unready":"Error"}]'
is "Karmada is asked by a kubeconfig of its own" \
    "$(estimator_setting '[.kubernetes.inCluster, .estimator.fromKarmada, .estimator.members, .karmada]' --values $values/estimator-karmada.yaml)" \
    '[true,true,["host"],{"clusterNamespace":"karmada-cluster","context":"karmada-apiserver","kubeconfig":"/etc/evenkeel/karmada/karmada.config"}]'
services=(--values "$values/estimator-karmada.yaml" --set estimator.services=true)
is "Services in its API server lead to the one of the release, and one replica writes them" \
    "$(estimator_setting '[.estimator.services, .estimator.serviceHost, .karmada.estimators, .leaderElection]' "${services[@]}")" \
    '[true,"evenkeel-estimator.ours.svc:10352",{"servicePrefix":"karmada-scheduler-estimator"},{"enabled":true,"leaseName":"evenkeel-estimator","leaseNamespace":"karmada-system"}]'
is "... or elsewhere" \
    "$(estimator_setting '[.estimator.serviceHost, .karmada.estimators]' "${services[@]}" --set estimator.serviceHost=lb.example:443 --set estimator.service.memberPrefix=)" \
    '["lb.example:443",null]'
is "and give no right where it runs" \
    "$(render evenkeel evenkeel "${services[@]}" --set-json 'estimator.members=[]' --show-only templates/rbac.yaml 2>/dev/null | grep -c kind || true)" 0
is "and gives no right where it runs" \
    "$(render evenkeel evenkeel --values $values/estimator-karmada.yaml --set-json 'estimator.members=[]' --show-only templates/rbac.yaml 2>/dev/null | grep -c kind || true)" 0
is "settings of an estimator are no other door's" \
    "$(estimator_setting .estimator --set webhook.enabled=true --values $values/estimator-members.yaml --set webhook.enabled=true >"$work/out"; jq -c .estimator "$parts/configuration-2")" null
is "each member has a Service" \
    "$(awk '/^kind: Service$/ { f = 1 } f && /^  name:/ { print $2; f = 0 }' "$work/estimator-members.yaml" | paste -sd' ')" \
    'evenkeel-estimator estimator-member1 estimator-member2 estimator-member3'
is "... those of Karmada that are named, too, each once" \
    "$(awk '/^kind: Service$/ { f = 1 } f && /^  name:/ { print $2; f = 0 }' "$work/estimator-karmada.yaml" | paste -sd' ')" \
    'evenkeel-estimator karmada-scheduler-estimator-host karmada-scheduler-estimator-east karmada-scheduler-estimator-west'
is "... or none" "$(awk '/^kind: Service$/ { f = 1 } f && /^  name:/ { print $2; f = 0 }' "$work/estimator-tls.yaml" | paste -sd' ')" \
    'evenkeel-estimator evenkeel-webhook'
is "nothing of Karmada is left where the door is off" "$(render evenkeel evenkeel | grep -ci karmada || true)" 0

# ---- the webhook that validates ----

asked() { # FILE KIND: the configuration of that kind
    awk -v kind="$2" 'BEGIN { RS = "---\n" } $0 ~ "\nkind: " kind "\n"' "$1"
}
setting() { # FILE KIND KEY
    asked "$1" "$2" | sed -n "s/^ *$3: //p"
}
binds=$work/webhook-validating.yaml
fails=$work/webhook-validating-fail.yaml
# But for its own operation and condition.
whom() { sed -n '/^  rules:/,$p' | sed 's/, UPDATE\]/]/; /^  - name: new-or-without-its-gates$/,/ > 0))$/d; /^  matchConditions:$/d'; }
is "it is asked about the pods that are injected, and no others" \
    "$(asked "$binds" ValidatingWebhookConfiguration | whom)" \
    "$(asked "$binds" MutatingWebhookConfiguration | whom)"
# The operations, and whether there is a condition, of both.
operations() { # OPTION...
    render evenkeel evenkeel --set webhook.validating.enabled=true --show-only templates/webhook.yaml "$@" |
        sed -nE 's/.*operations: (\[[^]]*\]).*/\1/p; s/.*(new-or-without-its-gates|name: mine)$/\1/p' | paste -sd' '
}
is "and once more when their gates go" "$(operations)" '[CREATE] [CREATE, UPDATE] new-or-without-its-gates'
is "but not by an API server that would ask about all updates" "$(operations --kube-version 1.27.16)" '[CREATE] [CREATE]'
is "others' conditions are for both" \
    "$(operations --set 'webhook.matchConditions[0].name=mine' --set 'webhook.matchConditions[0].expression=1 == 1')" \
    '[CREATE] name: mine [CREATE, UPDATE] new-or-without-its-gates name: mine'
like "those of namespaces that are named, say" "$(asked "$binds" ValidatingWebhookConfiguration)" \
    'spread: wanted.*"kube-system","evenkeel","calico-system"'
is "at its own path" "$(setting "$binds" ValidatingWebhookConfiguration path)" /webhooks/v1/pods/validate
is "it lets pods in while Evenkeel is unwell, whatever the other one does" \
    "$(setting "$binds" ValidatingWebhookConfiguration failurePolicy; setting "$binds" MutatingWebhookConfiguration failurePolicy)" $'Ignore\nFail'
is "unless it is told otherwise" \
    "$(setting "$fails" ValidatingWebhookConfiguration failurePolicy; setting "$fails" MutatingWebhookConfiguration failurePolicy)" $'Fail\nIgnore'
is "Evenkeel keeps its caBundle" "$(evenkeel_yaml "$binds" && jq -c .webhook.certificates.validatingConfigurations "$parts/configuration-1")" \
    '["evenkeel.evenkeel"]'
is "with the right to" "$(grep -c -- '- validatingwebhookconfigurations$' "$binds")" 1
is "or cert-manager does" "$(setting "$fails" ValidatingWebhookConfiguration cert-manager.io.inject-ca-from)" evenkeel/filled
is "without a right of Evenkeel's" "$(grep -c webhookconfigurations "$fails" || true)" 0

is "what monitors is off, and leaves nothing" "$(grep -cE 'monitoring.coreos.com|-dashboard' "$work/defaults.yaml" || true)" 0

# ---- releases do not meet ----

objects() { # RELEASE NAMESPACE [OPTION...]: kind, namespace and name of each object
    render "$@" --set crd.install=false --set webhook.validating.enabled=true --set extender.enabled=true --set extender.tls.secretName=x \
        --set scheduler.enabled=true --set scheduler.image.repository=x --set ocm.enabled=true --set placements.enabled=true |
        awk '/^---/ { kind = ""; meta = 0 } /^kind:/ { kind = $2; namespace = "-" } /^metadata:/ { meta = 1; next }
             /^[a-z]/ { meta = 0 } meta && /^  name:/ { name = $2; print kind, name }'
}
shared() { # FILE FILE
    sort "$1" "$2" | uniq -d
}
objects one shop >"$work/a" && objects two shop >"$work/b"
is "two releases in one namespace share nothing" "$(shared "$work/a" "$work/b")" ''
cluster_wide() { awk '$1 ~ /^(ClusterRole|ClusterRoleBinding|(Mutating|Validating)WebhookConfiguration)$/' "$1"; }
objects one here >"$work/a" && objects one there >"$work/b"
cluster_wide "$work/a" >"$work/a-wide" && cluster_wide "$work/b" >"$work/b-wide"
check "there are objects without a namespace" test "$(wc -l <"$work/a-wide")" -ge 5
is "one release's name in two namespaces: they share nothing without a namespace" "$(shared "$work/a-wide" "$work/b-wide")" ''
long=a-release-with-a-name-of-53-characters-the-longest-is
objects "${long%s}a" shop >"$work/a" && objects "${long%s}b" shop >"$work/b"
is "long names that differ at their end stay two" "$(shared "$work/a" "$work/b")" ''
is "names fit" "$(awk 'length($2) > 63 && $1 !~ /^(Cluster|Lease|Mutating|Validating|Role)/' "$work/a")" ''
"$helm" template "${long%s}a" $chart --namespace shop --kube-version 1.36.0 --set monitoring.serviceMonitor.enabled=true --set estimator.enabled=true \
    --set 'estimator.members[0].name=m' 2>"$work/err" >"$work/long"
is "... those of an estimator's, too" "$(awk '/^kind: Service$/ { f = 1 } f && /^  name:/ { if (length($2) > 63) print; n += f; f = 0 } END { print n }' "$work/long")" 5
objects 1st shop >"$work/a"
is "names of Services begin with a letter" "$(awk '$1 == "Service" && $2 !~ /^[a-z]/' "$work/a")" ''

updates() { render evenkeel evenkeel "$@" | sed -n 's/.*rollingUpdate: //p'; }
is "an update never has less replicas" "$(updates)" '{maxSurge: 1, maxUnavailable: 0}'
is "but where a new one may need an old one's ports" "$(updates --set webhook.hostNetwork=true)" '{maxSurge: 1, maxUnavailable: 1}'
is "or can be ready only when the old ones are gone" "$(updates --values $values/extender-reserves.yaml)" '{maxSurge: 1, maxUnavailable: 100%}'
is "whose waiting replicas are no update that got stuck" "$(grep -c 'progressDeadlineSeconds: 2147483647$' "$work/extender-reserves.yaml" || true)" 1
is "others have the usual deadline" "$(grep -c progressDeadlineSeconds "$work/extender-reserves-single.yaml" "$work/both.yaml" | grep -vc ':0$' || true)" 0
is "one of which is ready has no budget, or it could not be evicted" "$(grep -c PodDisruptionBudget "$work/extender-reserves.yaml" || true)" 0
check "sections without a setting may be left empty" render evenkeel evenkeel --set config=null

is "the quota that a priority wants is none for others' pods" \
    "$(render evenkeel evenkeel --show-only templates/resourcequota.yaml | sed -n 's/^  hard: //p')" '{pods: "1G"}'

# ---- security contexts ----

contexts() { # OPTION...: those of pods and containers, and the modes of files with secrets
    render evenkeel evenkeel --set scheduler.enabled=true,scheduler.image.repository=x,webhook.enabled=false "$@" --show-only templates/deployment.yaml |
        grep -oE 'securityContext"?: *\{[^}]*\}*|defaultMode: [0-9]+' | sort -u | paste -sd' '
}
own=$(contexts)
like "pods run as a user of their own, who reads their files by a group" "$own" '"fsGroup":65532,"runAsGroup":65532,"runAsNonRoot":true,"runAsUser":65532'
is "... without any privilege, as a kube-scheduler beside it" "$(grep -o '"allowPrivilegeEscalation":false,"capabilities":{"drop":\["ALL"\]}' <<<"$own" | wc -l)" 2
is "... with files for that group" "$(grep -oE 'defaultMode: [0-9]+' <<<"$own")" 'defaultMode: 0440'
theirs=$(contexts --set podSecurityContext.runAsUser=null,podSecurityContext.runAsGroup=null,podSecurityContext.fsGroup=null)
like "a cluster may choose users and groups" "$theirs" 'securityContext: ."runAsNonRoot":true,"seccompProfile":'
is "... of which nothing is left" "$(grep -c 65532 <<<"$theirs" || true)" 0
like "... and everybody in the pod reads its files" "$theirs" 'defaultMode: 0444'
is "none is set at all, if that is wanted" "$(contexts --set podSecurityContext=null,securityContext=null)" 'defaultMode: 0444'
like "a user of ten digits stays one" "$(contexts --set podSecurityContext.runAsUser=1000650000)" '"runAsUser":1000650000[,}]'
is "the guide for OpenShift has the values that are tested" \
    "$(sed -n '/^podSecurityContext:/p' $values/openshift.yaml)" "$(sed -n '/^podSecurityContext:/p' docs/guides/openshift.md)"

# ---- labels ----

# Objects without the label that values give all of them, of everything that can be on.
everything=(--values "$values/every-door.yaml" --values "$values/monitoring.yaml" --set networkPolicy.enabled=true --set webhook.validating.enabled=true)
unlabelled() { # LABEL
    awk -v label="$1" 'function done() { if (kind != "" && !found) print kind, name; kind = name = ""; found = meta = 0 }
        /^---/ { done() } /^kind:/ { kind = $2 } /^metadata:/ { meta = 1; next } /^[a-z]/ { meta = 0 }
        meta && /^  name:/ { name = $2 } meta && $0 == "    " label { found = 1 } END { done() }'
}
render evenkeel evenkeel "${everything[@]}" --set monitoring.podMonitor.enabled=false,monitoring.serviceMonitor.enabled=true,commonLabels.team=shop >"$work/labelled"
check "there are objects of many kinds" test "$(grep '^kind:' "$work/labelled" | sort -u | wc -l)" -ge 16
is "all objects have the common labels" "$(unlabelled 'team: shop' <"$work/labelled")" ''
is "... and pods" "$(grep -c '^        team: shop$' "$work/labelled")" "$(grep -cE '^kind: (Deployment|Job)$' "$work/labelled")"
is "... which no selector has" "$(grep -A6 -E 'matchLabels:|selector:' "$work/labelled" | grep -c team || true)" 0

# ---- GitOps ----

# Kinds and names of objects that Evenkeel writes to, as they are rendered with all that it keeps.
render evenkeel evenkeel --values $values/every-door.yaml --set webhook.validating.enabled=true,ocm.enabled=true,placements.enabled=true \
    --set extender.tls.secretName= >"$work/kept"
written=$(awk '/^kind:/ { kind = $2 } /^metadata:/ { meta = 1; next } /^[a-z]/ { meta = 0 }
    meta && /^  name:/ && kind ~ /^(Secret|(Mutating|Validating)WebhookConfiguration)$/ { print kind, $2 }' "$work/kept" | sort)
check "there are objects that Evenkeel writes to" test "$(wc -l <<<"$written")" -ge 7
named() { # PAGE [SECTION]: of examples in it, a name that follows a kind in the line before
    awk -v section="${2:-}" '/^## / { on = section == "" || $0 == "## " section } section == "" { on = 1 }
        /^ *(- )?name: / && kind != "" && on { print kind, $NF } { kind = $0 ~ /^ *(- )?kind: / ? $NF : "" }' "$1" | sort -u
}
is "Argo CD ignores these and no others" "$(named docs/guides/gitops.md 'Argo CD')" "$written"
is "so does Flux" "$(named docs/guides/gitops.md Flux)" "$written"
is "what the guide of pods says of Argo CD is among them" "$(named docs/guides/pods.md | grep WebhookConfiguration | grep -vxF "$written" || true)" ''
check "... and says something" test -n "$(named docs/guides/pods.md | grep WebhookConfiguration)"

# ---- the extender's certificates ----

extender_setting() { # JQ OPTION...
    render evenkeel ours --set webhook.enabled=false --set extender.enabled=true --set extender.service.clusterIP=10.96.0.50 "${@:2}" >"$work/certificates"
    evenkeel_yaml "$work/certificates"
    jq -c "$1" "$parts/configuration-1"
}
is "the certificate is for the Service's name and address" "$(extender_setting .extender.certificates.hosts)" \
    '["evenkeel-extender.ours.svc","10.96.0.50"]'
is "and for what else is called" "$(extender_setting .extender.certificates.hosts --set 'extender.certificates.hosts={fd00::1,10.96.0.50}')" \
    '["evenkeel-extender.ours.svc","10.96.0.50","fd00::1"]'
is "only kube-scheduler may call" "$(extender_setting .extender.allowedSubjects)" '["system:kube-scheduler"]'
is "by its new name only, if it gets one" "$(extender_setting .extender.allowedSubjects --set extender.certificates.clientName=second)" '["second"]'
is "a Secret of somebody else's is mounted" \
    "$(extender_setting '[.extender.certificates, .extender.certFile, .extender.allowedSubjects]' --set extender.tls.secretName=x)" \
    '[null,"/etc/evenkeel/tls/tls.crt",["system:kube-scheduler"]]'
is "and then nobody reads Secrets" "$(grep -c -- '- secrets$' "$work/certificates" || true)" 0
is "Secrets are laid out empty" "$(grep -cE '^(kind: Secret|type: Opaque)$' "$work/extender-makes.yaml" || true)" 4
is "rights are for these two by name" "$(grep -B3 -A5 -- '- secrets$' "$work/extender-makes.yaml" | sed -n 's/^ *- //p' | paste -sd' ')" \
    'evenkeel-extender-tls evenkeel-extender-client secrets list watch patch apiGroups: "" secrets create apiGroups: events.k8s.io'

# ---- who reaches what ----

# The NetworkPolicy of a door, as the lines of one direction; of what renders with these options.
network() { # DOOR DIRECTION OPTION...
    render evenkeel evenkeel --set networkPolicy.enabled=true "${@:3}" --show-only templates/networkpolicy.yaml |
        awk -v door="evenkeel-$1" -v direction="$2:" '
            /^  name:/ { mine = $2 == door }
            /^  [a-z]/ { inside = mine && $1 == direction }
            inside && !/^ *#/' || true
}
servers=(--set 'networkPolicy.apiServerCIDRs={10.0.0.0/24}')
is "where pods connect to says nothing of who calls" "$(network webhook ingress "${servers[@]}" | grep -c from: || true)" 0
is "only where they connect to" "$(network webhook egress "${servers[@]}" | grep -c 10.0.0.0/24)" 1
tunnel=(--set networkPolicy.webhookFrom[0].podSelector.matchLabels.k8s-app=konnectivity-agent)
is "who calls the webhook may be a tunnel's pods" \
    "$(network webhook ingress "${tunnel[@]}" | sed -n '/port: webhook/,/port: ops/p' | grep -c konnectivity-agent)" 1
is "and is not who reads metrics" "$(network webhook ingress "${tunnel[@]}" | sed -n '/port: ops/,$p' | grep -c konnectivity || true)" 0
is "nor where pods connect to" "$(network webhook egress "${tunnel[@]}" | grep -c konnectivity || true)" 0
estimates=(--set webhook.enabled=false --set estimator.enabled=true --set 'networkPolicy.memberCIDRs={192.0.2.0/24}')
is "an estimator of this cluster connects where the other doors do" \
    "$(network estimator egress "${servers[@]}" "${estimates[@]}" --set 'estimator.members[0].name=a')" "$(network webhook egress "${servers[@]}")"
only=(--set 'estimator.members[0].name=a' --set 'estimator.members[0].secretName=x')
is "one of others to these, and to name servers" \
    "$(network estimator egress "${servers[@]}" "${estimates[@]}" "${only[@]}" | grep -oE 'cidr: "[^"]*"|port: 53, protocol: ...' | paste -sd' ')" \
    'cidr: "192.0.2.0/24" port: 53, protocol: UDP port: 53, protocol: TCP'
is "... and one of both to both" \
    "$(network estimator egress "${servers[@]}" "${estimates[@]}" "${only[@]}" --set 'estimator.members[1].name=b' | grep -oE 'cidr: "[^"]*"' | paste -sd' ')" \
    'cidr: "10.0.0.0/24" cidr: "192.0.2.0/24"'
from=(--set estimator.fromKarmada=true --set estimator.karmada.secretName=x)
is "... as one of Karmada's clusters does" "$(network estimator egress "${estimates[@]}" "${from[@]}")" "$(network estimator egress "${estimates[@]}" "${only[@]}")"
callers=(--set 'networkPolicy.estimatorFrom[0].podSelector.matchLabels.app=karmada-scheduler')
is "karmada-scheduler's pods may call it, and not read metrics" \
    "$(network estimator ingress "${estimates[@]}" "${only[@]}" "${callers[@]}" | sed -n '/port: ops/q; /karmada-scheduler/p' | wc -l) $(network estimator ingress "${estimates[@]}" "${only[@]}" "${callers[@]}" | sed -n '/port: ops/,$p' | grep -c karmada || true)" '1 0'
is "on the host's network there is none to trust in" \
    "$(render evenkeel evenkeel --set networkPolicy.enabled=true --set webhook.hostNetwork=true | grep -c '^kind: NetworkPolicy' || true)" 0

# ---- what is told ----

# The chart with its notes as one value, for `helm template` has no other way to show them.
told=$work/told
cp -rL $chart "$told"
{ echo '{{ define "told" -}}'; cat $chart/templates/NOTES.txt; echo '{{ end }}'; } >"$told/templates/_told.tpl"
echo 'notes: {{ include "told" . | toJson }}' >"$told/templates/told.yaml"
notes() { # OPTION...
    "$helm" template evenkeel "$told" --namespace evenkeel --kube-version 1.36.0 --show-only templates/told.yaml "$@" |
        sed -n 's/^notes: //p' | jq -r .
}
like "whom no NetworkPolicy keeps out" "$(notes --set networkPolicy.enabled=true --set webhook.hostNetwork=true)" "no NetworkPolicy is in force"

like "that policies with Require bind nobody" "$(notes)" "Require bind nobody yet.*webhook.validating.enabled"
validating=(--set webhook.validating.enabled=true)
is "until they do" "$(notes "${validating[@]}" | grep -c Require || true)" 0
like "that labels of pods are their authors'" "$(notes "${validating[@]}" --set webhook.objectSelector.matchLabels.a=b)" "author writes"
like "what ends the validating one's Fail" "$(notes "${validating[@]}" --set webhook.validating.failurePolicy=Fail)" \
    "kubectl delete validatingwebhookconfiguration evenkeel.evenkeel"
like "and both" "$(notes "${validating[@]}" --set webhook.validating.failurePolicy=Fail --set webhook.failurePolicy=Fail)" \
    "kubectl delete mutatingwebhookconfiguration,validatingwebhookconfiguration evenkeel.evenkeel"
like "that Fail leaves out too little" "$(notes --set webhook.failurePolicy=Fail)" "excludedNamespaces IS EMPTY.*calico-system"
excluding=$(notes --set webhook.failurePolicy=Fail --set 'webhook.excludedNamespaces={calico-system}')
like "what Fail leaves out" "$excluding" "outside of kube-system, evenkeel, calico-system no pod"
is "and then nothing is empty" "$(grep -c 'IS EMPTY' <<<"$excluding" || true)" 0
is "a command that ends where one replica is ever ready" \
    "$(notes --values $values/extender-reserves.yaml | grep -E '^ *kubectl .*evenkeel-extender' | grep -c 'wait --for=jsonpath.*readyReplicas.*=1')" 1
like "the usual one where all are" "$(notes --values $values/extender-reserves-single.yaml)" "rollout status deployment/evenkeel-extender"
like "how kube-scheduler's certificate gets to a machine" "$(notes --set extender.enabled=true)" \
    "get secret evenkeel-extender-client"
# The command that is told, in a folder of ours, with a kubectl that fails at tls.key or never.
copied=$work/copied
copy_files() { # FAILING
    notes --set extender.enabled=true | sed -n '/umask 077/,/^$/p' | sed "s|/etc/kubernetes/evenkeel|$copied|" >"$work/copy.sh"
    mkdir -p "$copied"
    printf 'old\n' | tee "$copied"/{ca.crt,tls.crt,tls.key} >"$work/old"
    printf 'kubectl() { [[ "$*" != *\\"%s\\"* ]] && echo new; }\n. %s\n' "$1" "$work/copy.sh" | bash || true
    cat "$copied"/{ca.crt,tls.crt,tls.key} | paste -sd' '
}
is "a copy that fails leaves all files as they are" "$(copy_files tls.key)" "old old old"
is "one that succeeds replaces them" "$(copy_files nothing)" "new new new"
like "how rights are tested" "$(notes)" "helm test evenkeel -n evenkeel"
is "... where there are any" "$(notes --values $values/estimator-members.yaml | grep -c 'helm test' || true)" 0
like "that links of alerts lead nowhere" "$(notes --set monitoring.rules.enabled=true)" "WARNING: alerts link to docs/guides/alerts.md, which is no address"
is "... until they have an address" "$(notes --values $values/monitoring.yaml | grep -c 'no address' || true)" 0
like "how another release gets at the kind that stays" "$(notes)" "crd.install=false.*--take-ownership"
hub=(--set webhook.enabled=false --set ocm.enabled=true)
like "how to leave a hub" "$(notes "${hub[@]}")" "helm uninstall. gives them back to OCM first.*logs job/evenkeel-give-back"
like "... by hand, if the hook is off" "$(notes "${hub[@]}" --set ocm.giveBack.enabled=false)" "BEFORE YOU UNINSTALL.*mode=Off --overwrite.*disabled-ocm"
like "that this is no hub" "$(notes "${hub[@]}")" "WARNING: Open Cluster Management is not in this cluster"
is "where it is one nothing is said of it" \
    "$(notes "${hub[@]}" --api-versions cluster.open-cluster-management.io/v1beta1 | grep -c 'not in this cluster' || true)" 0
like "what decides a new Placement first" "$(notes "${hub[@]}")" "placements.enabled=true spares"
is "until it is asked about" "$(notes "${hub[@]}" --set placements.enabled=true | grep -c 'spares' || true)" 0
like "what a Placement that asks for mode Scores gets" "$(notes "${hub[@]}")" "reason ScoresOff.*config.ocm.scores=true"
is "until it has that mode" \
    "$(notes "${hub[@]}" --set config.ocm.scores=true | grep -c ScoresOff || true) $(notes "${hub[@]}" --set config.ocm.mode=Scores | grep -c ScoresOff || true)" '0 0'
is "nothing of it without a hub" "$(notes | grep -ci placement || true)" 0
estimating=(--set webhook.enabled=false --set estimator.enabled=true --set 'estimator.members[0].name=a')
like "where karmada-scheduler looks for estimators" "$(notes "${estimating[@]}")" \
    "--enable-scheduler-estimator --scheduler-estimator-service-namespace=evenkeel.*WARNING: they look in the namespace karmada-system"
is "... which is said nowhere else than elsewhere" \
    "$(notes "${estimating[@]}" --namespace karmada-system | grep -c 'WARNING\|service-namespace' || true)" 0
like "... with the flags for what is not the default" \
    "$(notes --values $values/estimator-members.yaml --namespace karmada-system)" \
    "--enable-scheduler-estimator --scheduler-estimator-service-prefix=estimator --scheduler-estimator-port=443 --scheduler-estimator-ca-file=FILE --scheduler-estimator-cert-file=FILE"
like "that an estimator speaks plaintext" "$(notes "${estimating[@]}")" "It speaks plaintext.*port 10352"
is "until it has a certificate" "$(notes "${estimating[@]}" --set estimator.tls.secretName=t | grep -c plaintext || true)" 0
is "what kubeconfigs may do, once" "$(notes --values $values/estimator-members.yaml | grep -c rbac-member)" 1
like "which of Karmada's clusters have no Service" "$(notes --values $values/estimator-karmada.yaml)" \
    "members while they are there; Services are made for those of estimator.members and estimator.service.members"
like "and where they have" "$(notes "${services[@]}")" "in Karmada's API server, in karmada-system, they have Services.*rbac-karmada-services"
is "of none nothing" "$(notes "${estimating[@]}" | grep -c rbac-member || true)" 0
like "that no member has a Service" "$(notes "${estimating[@]}" --set estimator.service.memberPrefix=)" "No Service has a member's name"
is "without a kind of its own it says nothing of it" "$(notes --set crd.install=false | grep -c take-ownership || true)" 0
is "without Fail nothing is said of it" "$(notes | grep -c excludedNamespaces || true)" 0

# ---- doors, and what is refused ----

check "each door is what it should be, and what cannot work is refused" "$unittest" --strict \
    --file "../../tests/packaging/chart/*_test.yaml" $chart
# Sentences of guards, with values where they have some, that no test of them waits for.
patterns() { sed -nE 's/.*errorPattern: "(.*)"\}.*/\1/p' tests/packaging/chart/guards_test.yaml; }
sentences() {
    sed -nE 's/.*fail (\(printf )?"([^"]*)".*/\2/p' $chart/templates/guards.yaml | sed 's/%s/webhook/; s/%s/webhook/; s/%[vd]/2/g'
}
check "there are sentences to look for" test "$(sentences | wc -l)" -ge 20
is "there is a test for each guard" "$(sentences | grep -vE -f <(patterns) || true)" ''
# helm-unittest knows no versions but vMAJOR.MINOR.0.
check "a cloud's version is one that keeps conditions" render evenkeel evenkeel --kube-version v1.29.1-gke.1589018 \
    --set 'webhook.matchConditions[0].name=a' --set 'webhook.matchConditions[0].expression=1 == 1'

# ---- values, schema and README agree ----

rows() { awk -f $chart/table.awk $chart/values.yaml; }
in_readme() { sed -n '/<!-- table -->/,/<!-- end -->/p' $chart/README.md | grep '^| `'; }
if [ -n "${UPDATE_DOCS:-}" ]; then
    { sed '/<!-- table -->/q' $chart/README.md; printf '| value | default | |\n|---|---|---|\n'; rows; sed -n '/<!-- end -->/,$p' $chart/README.md; } >"$work/readme"
    cp "$work/readme" $chart/README.md
fi
is "README has the table that values.yaml makes (UPDATE_DOCS=1 writes it)" "$(in_readme)" "$(rows)"
# Settings in the schema are those of the program, by way of its documentation.
settings() {
    jq -R -s --argjson sections "$(jq -c '.properties.config.properties | keys' $chart/values.schema.json)" \
        -f $chart/config.jq docs/configuration.md
}
if [ -n "${UPDATE_DOCS:-}" ]; then
    jq --argjson config "$(settings)" '.properties.config = $config' $chart/values.schema.json >"$work/schema"
    cp "$work/schema" $chart/values.schema.json
fi
is "the schema has the settings of docs/configuration.md (UPDATE_DOCS=1 writes it)" \
    "$(jq -S .properties.config $chart/values.schema.json)" "$(settings | jq -S .)"
# Objects whose members the schema names are sections; everything else is a value. Settings of former versions are
# taken, and are no values any more.
in_schema() {
    jq -r 'def walk_values($path): if .properties then .properties | to_entries[] | .key as $k | .value | walk_values($path + [$k])
                                   elif .deprecated then empty else $path | join(".") end;
           walk_values([])' $chart/values.schema.json | grep -vx global
}
# What values.yaml gives as one value may be a section of the schema: resources.limits.
missing_in() { # LIST: paths of standard input of which neither they nor a parent nor a child is in LIST
    awk 'NR == FNR { have[$0] = 1; next }
         { path = $0; found = 0
           while (path != "") { if (path in have) found = 1; if (!sub(/\.[^.]*$/, "", path)) break }
           for (h in have) if (index(h, $0 ".") == 1) found = 1
           if (!found) print }' "$1" -
}
# shellcheck disable=SC2016  # backquotes of Markdown
rows | sed -nE 's/^\| `([^`]*)`.*/\1/p' >"$work/values-paths"
in_schema >"$work/schema-paths"
is "every value is in the schema" "$(missing_in "$work/schema-paths" <"$work/values-paths")" ''
is "and what is in the schema is a value" "$(missing_in "$work/values-paths" <"$work/schema-paths")" ''
is "everything in the schema is closed" \
    "$(jq -r '[.. | objects | select(.properties and .additionalProperties != false)] | length' $chart/values.schema.json)" 0
unused() {
    while read -r path; do
        grep -rqE "\.${path##*.}\b" $chart/templates || echo "$path"
    done <"$work/values-paths"
}
is "every value is used by a template" "$(unused | grep -vE '^config\.|^(extender|scheduler)\.reservations\.|[rR]esources\.' || true)" ''
is "the chart's version is the program's" "$("$evenkeel" version -o json | jq -r .version)" "$(awk '$1 == "appVersion:" { print $2 }' $chart/Chart.yaml)"

# ---- the package ----

pack() { HELM=$(realpath "$helm") charts/package.sh "$1"; }
pack_elsewhere() (
    umask 077
    export TZ=Asia/Tokyo
    pack "$1"
)
check "the chart is packed" pack "$work/packed"
check "and packed again" pack_elsewhere "$work/again"
is "they are the same bytes" "$(cd "$work/packed" && sha256sum -- *)" "$(cd "$work/again" && sha256sum -- *)"
package=$(echo "$work"/packed/*.tgz)
is "it renders as the folder does" "$("$helm" template evenkeel "$package" --namespace evenkeel --kube-version 1.36.0)" \
    "$(cat "$work/defaults.yaml")"
check "the kind in it is the one of the documents" \
    cmp <(tar -xzOf "$package" evenkeel/files/crd-topologypolicy.yaml) docs/examples/kubernetes/crd-topologypolicy.yaml
is "nothing in it is for tests or editors" "$(tar -tzf "$package" | grep -vE '^evenkeel/(Chart|values|values.schema|README|templates/[a-z_]+|files/crd-topologypolicy|files/dashboard|templates/NOTES|[.]helmignore)' || true)" ''

finish_tests

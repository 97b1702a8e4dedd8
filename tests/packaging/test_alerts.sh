#!/usr/bin/env bash
# What watches Evenkeel: Prometheus takes the metrics, every alert fires by the series of its fault and not
# otherwise, has a runbook, and dashboard and alerts ask for metrics that there are.
. "$(dirname "$0")/../integration/lib.sh"
helm=${HELM:-build/tools/helm}
guide=docs/guides/alerts.md

render() { # OPTION...
    "$helm" template evenkeel charts/evenkeel --namespace evenkeel --kube-version 1.36.0 "$@" 2> >(grep -v 'found symbolic link' >&2)
}

# ---- metrics ----

start_server --state "$example/state.json"
curl -fs "http://$ops/metrics" >"$work/metrics"
is "promtool finds nothing wrong with the metrics" "$(promtool check metrics <"$work/metrics" 2>&1)" ''
stop_server INT

# ---- alerts ----

render --values tests/packaging/values/monitoring.yaml --show-only templates/monitoring.yaml >"$work/monitoring.yaml"
awk '/^---/ { rule = groups = 0 } /^kind: PrometheusRule/ { rule = 1 } rule && /^  groups:/ { groups = 1 }
     groups { print substr($0, 3) }' "$work/monitoring.yaml" >"$work/rules.yaml"
cp tests/packaging/alerts/alerts.yaml "$work/"
check "Prometheus takes the rules" promtool check rules "$work/rules.yaml"
check "each alert fires by its fault, and not without it" promtool test rules "$work/alerts.yaml"

alerts() { sed -nE 's/^ *- alert: //p' "$work/rules.yaml" | sort -u; }
is "each is made to fire" "$(grep -B 1 'exp_alerts:' "$work/alerts.yaml" | sed -nE 's/^ *alertname: //p' | sort -u)" "$(alerts)"
is "each is seen to be silent" "$(sed -nE 's/.*\{eval_time: 40m, alertname: (.*)\}/\1/p' "$work/alerts.yaml" | sort -u)" "$(alerts)"
is "each has a section in the guide, and no other alert has" "$(sed -nE 's/^## (Evenkeel[A-Za-z]+)$/\1/p' $guide | sort)" "$(alerts)"
is "... where its link leads" "$(sed -nE 's/.*runbook_url: "[^#]*#(.*)"/\1/p' "$work/rules.yaml" | sort -u)" "$(alerts | tr '[:upper:]' '[:lower:]')"
without_command() { # alerts whose section does not begin with what it means and a command that names the cause
    awk '/^## Evenkeel/ { if (name != "" && !found) print name; name = $2; found = 0; text = 0 }
         name != "" && /^[A-Z]/ { text = 1 }
         name != "" && text && /^```sh/ { found = 1 }
         END { if (name != "" && !found) print name }' $guide
}
is "... with a command that names the cause" "$(without_command)" ''
is "... of all replicas, for kubectl reads one pod of a Deployment" "$(grep -n 'logs deployment/' $guide || true)" ''
is "without doors that are off there are no alerts about them" \
    "$(render --set monitoring.rules.enabled=true | grep -cE 'alert: Evenkeel(Extender|NoOpinion|Placements|Decisions|Members)' || true)" 0
is "... of a hub alone there are none about pods" \
    "$(render --set monitoring.rules.enabled=true,webhook.enabled=false,ocm.enabled=true | grep -cE 'alert: Evenkeel(Webhook|Patches|Reviews|PlacementsUnreviewed)' || true)" 0

# ---- names ----

dashboard=charts/evenkeel/files/dashboard.json
queries() { jq -r '.panels[].targets[].expr' $dashboard; }
asked() { # names of Evenkeel's metrics in what is read; of a histogram's series its own
    grep -oE 'evenkeel_[a-z_]+' | sed -E 's/_(bucket|sum|count)$//' | sort -u
}
# shellcheck disable=SC2016  # Markdown's `
documented() { sed -nE 's/^\| `([a-z_]+)` \|.*/\1/p' docs/metrics.md | sort; }
is "alerts ask for metrics that there are" "$(sed -nE 's/^ *expr: //p' "$work/rules.yaml" | asked | comm -23 - <(documented))" ''
is "so does the dashboard" "$(queries | asked | comm -23 - <(documented))" ''
# shellcheck disable=SC2016  # a variable of Grafana
{
    printf 'groups:\n- name: dashboard\n  rules:\n'
    queries | sed 's/\$job/.*/' | while read -r query; do
        printf -- "- {record: 'a', expr: '%s'}\n" "$query" | sed 's/^/  /'
    done
} >"$work/queries.yaml"
check "whose queries Prometheus understands" promtool check rules "$work/queries.yaml"
is "the ConfigMap has it as it is" "$(render --set monitoring.dashboard.enabled=true --show-only templates/monitoring.yaml |
    sed -n 's/^  evenkeel.json: //p' | jq -r . | jq -S .)" "$(jq -S . $dashboard)"
is "every door's replicas are scraped" "$(grep -c '^kind: PodMonitor' "$work/monitoring.yaml")" 4
is "or by Services of their own" "$(render --values tests/packaging/values/monitoring-services.yaml --show-only templates/monitoring.yaml |
    grep -cE '^kind: (Service|ServiceMonitor)$')" 2

finish_tests

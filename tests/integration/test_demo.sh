#!/usr/bin/env bash
# docs/demo/demo.sh runs to its end, and shows the promised lines. Other tests check the computed results.
. "$(dirname "$0")/lib.sh"

code=0
EVENKEEL=$evenkeel timeout 60 docs/demo/demo.sh >"$work/demo" 2>"$work/demo.err" || code=$?
is "the demo ends well" "$code" 0
is "... without a word on standard error" "$(<"$work/demo.err")" ''
out=$(sed 's/\x1b\[[0-9]*m//g' "$work/demo")
is "fifteen steps, in order" "$(grep -oE '^[0-9]+\.' <<<"$out" | tr -d '.\n')" 123456789101112131415

step() { awk -v step="$1." '/^[0-9]+\. /{ on = index($0, step) == 1 } on' <<<"$out"; }
shows() { # STEP COMMAND
    step "$1" | grep -qE "^  \\\$ $2"
}
program=$(printf '%q' "$evenkeel")
for shown in "1 $program certs init --dir " "2 $program serve --state .* --policy " "4 $program topology --state " \
    "10 $program explain shop/.* --server http://127.0.0.1:[0-9]+ " "11 $program simulate --state .* --pod " "12 $program simulate --state docs/examples/fleet/hub.yaml --placement " "14 $program simulate --state docs/examples/fleet/karmada.yaml --binding " "15 kill -INT [0-9]+\$"; do
    check "step ${shown%% *} shows the command that it runs" shows "${shown%% *}" "${shown#* }"
done
for shown in '5 webhooks/v1/pods' '7 extender/v1/filter' '8 extender/v1/prioritize' '9 extender/v1/preempt'; do
    check "step ${shown%% *} shows its call" shows "${shown%% *}" \
        "curl .* --cacert [^ ]+ .* --data-binary @[^ ]+ https://127.0.0.1:[0-9]+/${shown#* }\$"
done
like "the cluster as a table" "$(step 3)" 'REGION +ZONE +NODE +WEB PODS'
is "... with a line per node" "$(step 3 | grep -cE '(eu-west|us-east|ap-south|edge)-?')" 13
like "how even they are" "$(step 4)" 'shop +web +StatefulSet +[0-9]+ +[0-9]+ +[0-9]+ +(even|uneven|unavoidable)'
like "what the webhook gives a pod" "$(step 5)" 'topology.kubernetes.io/region +1 +ScheduleAnyway.*topology.kubernetes.io/zone +1 +DoNotSchedule'
like "why" "$(step 10)" 'filter: answered'
like "filter's verdicts as a table" "$(step 7)" 'NODE +VERDICT +REASON'
is "... with each verdict" "$(step 7 | grep -oE ' (Pass|Unschedulable|UnschedulableAndUnresolvable)( |$)' | tr -d ' ' | sort -u | paste -s -d ' ')" \
    'Pass Unschedulable UnschedulableAndUnresolvable'
like "prioritize's scores as a table" "$(step 8)" 'NODE +SCORE.* ap-south-a-1 +10 +##########'
like "preempt's answers as a table" "$(step 9)" 'NODE +VICTIMS +ANSWER.*fits without them.*would still be uneven'
like "the same from simulate" "$(step 11)" 'NODE +VERDICT +PRIORITY +NORMALIZED +RAW +TOTAL +REASON'
is "daemon and simulate agree in it" \
    "$(step 8 | awk '$2 ~ /^[0-9]+$/ { print $1, $2 }' | sort)" \
    "$(step 11 | awk '$2 == "Pass" { print $1, $3 }' | sort)"
like "where a Placement should be" "$(step 12)" 'CLUSTER +DECISION.*east-b1 +added.*DOMAIN +SELECTED.*SpreadSatisfied +True'
like "... and what a policy adds" "$(step 13)" 'policy two-clouds: .* -> east-a1, hangzhou-e1, east-b1'
like "a binding of Karmada's" "$(step 14)" 'm3 +7 +6 +100 +selected'
# README's lines of the demo, the indented ones of its blocks without a language.
of_readme() { awk '/^```/ { inside = !inside; plain = $0 == "```"; next } inside && plain && /^ /' README.md; }
check "README shows lines of the demo" test "$(of_readme | wc -l)" -ge 10
is "... and each is one of it, in order" "$(diff -Z <(of_readme) <(echo "$out") | grep '^<' || true)" ''
like "it stops its server" "$(step 15)" 'stopped; exit code 0'
finish_tests

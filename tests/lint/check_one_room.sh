#!/bin/bash
# what one room decides is asked there, and not composed again elsewhere; what a room must not know
#
# Each row: what must not be written, the beginnings of files where it may be, and what to ask instead.
. "$(dirname "$0")/common.sh"

rows=(
    '\bpolicy_match\(; src/policy/ src/model/policy; policy_of_pod() of policy/match.h'
    '"evenkeel\.io/inject"; src/policy/match.c src/model/pod_keys.c; policy_opt_out() of policy/match.h'
    '\bkubernetes\.io/config\.mirror"; src/model/fixed_pod.c; pod_is_mirror() of model/fixed_pod.h'
    '"default-scheduler"; src/model/fixed_pod.c; scheduler_of() of model/fixed_pod.h'
    # besides, a table of who creates which pods, one of the groups of kinds, and what makes pods of files
    '"DaemonSet"; src/model/workload.c src/admission/pods/require.c src/evenness/render.c src/whatif/pod_file.c; is_daemon_set() of model/workload.h'
    '"(CronJob|rollouts-pod-template-hash)"; src/model/workload src/model/pod_keys.c src/evenness/render.c src/whatif/pod_file.c; workload_of() of model/workload.h'
    # besides, an example in a comment
    '"(kubernetes\.io/hostname|topology\.kubernetes\.io/(zone|region))"; src/model/topology.h src/evenness/render.h; TOPOLOGY_KEY_ZONE and the others of model/topology.h'
)
failed=0
for row in "${rows[@]}"; do
    IFS=';' read -r pattern files instead <<<"$row"
    while IFS=: read -r file line _; do
        for allowed in $files; do
            [[ $file != "$allowed"* ]] || continue 2
        done
        echo "$file:$line: ask$instead"
        failed=1
    done < <(c_files '*.[ch]' src handlers | xargs -r grep -nHE "$pattern")
    # A row that allows what is not there any more would hide the next one.
    for allowed in $files; do
        if ! c_files '*.[ch]' src handlers | grep "^$allowed" | xargs -r grep -qE "$pattern"; then
            echo "$0: '$allowed' is allowed $pattern, and has it not"
            failed=1
        fi
    done
done

# Each row: what must not be written in a room, the room, and why.
barred=(
    '\b(clock_[a-z_]+|kube_(wall|server)_[a-z]+|time|gettimeofday)\(; src/ocm/; a decision knows no time but the one that it is given'
)
for row in "${barred[@]}"; do
    IFS=';' read -r pattern room why <<<"$row"
    if ! c_files '*.[ch]' src | grep -q "^${room# }"; then
        echo "$0: there is no$room"
        failed=1
    fi
    while IFS=: read -r file line _; do
        echo "$file:$line:$why"
        failed=1
    done < <(c_files '*.[ch]' src | grep "^${room# }" | xargs -r grep -nHE "$pattern")
done
exit $failed

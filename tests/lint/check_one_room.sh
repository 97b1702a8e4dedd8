#!/bin/bash
# what one room decides is asked there, and not composed again elsewhere; what a room must not know
#
# Each row: what must not be written, the beginnings of files where it may be, and what to ask instead.
# Comments may say what they like.
. "$(dirname "$0")/common.sh"

# The kinds, and the keys without a domain, that src/kubernetes/model has a name for.
known=$(grep -ohP '^#define \w+ "\K[^"/. ]+(?="( /\*.*)?$)' src/kubernetes/model/names.h src/kubernetes/model/fluid.h &&
    grep -ohP '"\K[A-Z][A-Za-z]+(?=")' src/kubernetes/model/kinds.c src/kubernetes/model/owner_kinds.c)
known=$(sort -u <<<"$known" | paste -sd'|')

rows=(
    '\bpolicy_match\(; src/knowledge/policy/ src/kubernetes/model/policy; policy_of_pod() of policy/match.h'
    '\bINJECT_LABEL\b; src/kubernetes/model/ src/knowledge/policy/match.c; policy_opt_out() of policy/match.h'
    '\bMIRROR_POD_ANNOTATION\b; src/kubernetes/model/; pod_is_mirror() of model/fixed_pod.h'
    '"default-scheduler"; src/kubernetes/model/fixed_pod.c; scheduler_of() of model/fixed_pod.h'
    # besides, pods made of files, and the members of a workload
    '\bDAEMON_SET_KIND\b; src/kubernetes/model/ src/program/whatif/pod_file.c src/decisions/findings/schemas.c; is_daemon_set() of model/workload.h'
    # besides, the labels that are kept of every pod
    '\b(CRON_JOB_KIND|ROLLOUT_HASH_LABEL)\b; src/kubernetes/model/ src/program/whatif/pod_file.c src/decisions/findings/schemas.c src/knowledge/cache/classes.c; workload_of() of model/workload.h'
    # Keys of labels, annotations and taints, API groups and versions, and paths with these: a literal
    # of one word with a domain. Besides, what is not of objects: the format of a kubeconfig.
    '"[^" ]*[a-z]\.(io|com|net|sh|dev|org)(/[^" ]*)?"; src/kubernetes/model/ src/kubernetes/kube/auth/; a name of model/names.h and its neighbours'
    # besides, words of settings, members of the extender's protocol, and why a pod is pending
    '"('"$known"')(/v[0-9a-z]+)?"; src/kubernetes/model/ src/program/config/certificates.c src/program/config/table.c src/actions/extender/wire.c src/decisions/explain/pending.c; a name of model/names.h, or the table of model/kinds.h'
)
# Prints file:line: of each line of the files with the pattern outside of comments.
find_code() { # pattern, files on stdin
    xargs -r grep -nHoP "^(?!\s*(?:\*|/\*))(?:(?!/\*).)*?$1"
}
failed=0
for row in "${rows[@]}"; do
    IFS=';' read -r pattern files instead <<<"$row"
    while IFS=: read -r file line _; do
        for allowed in $files; do
            [[ $file != "$allowed"* ]] || continue 2
        done
        echo "$file:$line: ask$instead"
        failed=1
    done < <(c_files '*.[ch]' src handlers | find_code "$pattern")
    # A row that allows what is not there any more would hide the next one.
    for allowed in $files; do
        if ! c_files '*.[ch]' src handlers | grep "^$allowed" | find_code "$pattern" >/dev/null; then
            echo "$0: '$allowed' is allowed $pattern, and has it not"
            failed=1
        fi
    done
done

# Each row: what must not be written in a room, the room, and why.
barred=(
    '\b(clock_[a-z_]+|kube_(wall|server)_[a-z]+|time|gettimeofday)\(; src/decisions/ocm/; a decision knows no time but the one that it is given'
)
for row in "${barred[@]}"; do
    IFS=';' read -r pattern room why <<<"$row"
    if ! c_files '*.[ch]' src | grep "^${room# }" >/dev/null; then
        echo "$0: there is no$room"
        failed=1
    fi
    while IFS=: read -r file line _; do
        echo "$file:$line:$why"
        failed=1
    done < <(c_files '*.[ch]' src | grep "^${room# }" | find_code "$pattern")
done
exit $failed

#!/usr/bin/env bash
# Names in README.md and docs/: environment variables that something reads, files, headings and make targets
# that are there.
. "$(dirname "$0")/lib.sh"

documents=(README.md docs/*.md docs/guides/*.md)
example=docs/examples/three-regions

# README: each answer below a command is that of the command, and each command of a shell block ends well.
shown() { awk '/^```/ { inside = !inside; plain = $0 == "```"; next } inside && plain && /^[^ ]/' README.md; }
answered() {
    shown | sed -n 's/^\$ //p' | while read -r line; do
        echo "\$ $line"
        eval "${line/#build\/evenkeel/"$evenkeel"}"
    done
}
refused() {
    grep '^build/evenkeel ' README.md | while read -r line; do
        eval "${line/#build\/evenkeel/"$evenkeel"}" >/dev/null || echo "$line"
    done
}
check "README shows answers" test "$(shown | wc -l)" -ge 6
is "... and they are what the commands say" "$(shown)" "$(answered)"
check "README has a command for each who asks" test "$(grep -c '^build/evenkeel ' README.md)" -ge 4
is "... and each ends well" "$(refused)" ''
is "the guide of explain shows what simulate says" \
    "$(sed -n '/^NODE  .*VERDICT/,/^not judged/p' docs/guides/explain.md)" \
    "$("$evenkeel" simulate --state $example/state.json --pod $example/pod.json | sed -n '1,/^not judged/p')"
is "the guide of fleets shows what simulate says" \
    "$(awk '/^```$/ && on { fences++; next } /<!-- simulate/ { on = 1 } fences == 1' docs/guides/ocm.md)" \
    "$("$evenkeel" simulate --state docs/examples/fleet/hub.yaml --placement docs/examples/fleet/web.yaml --now 2026-01-02T03:04:05Z)"
part_of_guide() { # MARK NUMBER of the block behind it
    awk -v mark="<!-- $1" -v number="$2" '/^```/ && on { fences++; next } index($0, mark) { on = 1 } on && fences == 2 * number - 1' \
        docs/guides/karmada.md
}
for step in assign estimate; do
    is "the guide of Karmada shows what its step $step answers" "$(part_of_guide "$step" 2)" \
        "$(part_of_guide "$step" 1 | grep '^{' | "$evenkeel" simulate --lines -)"
done
is "... and what a policy would do" "$(part_of_guide propagation-policy 2)" \
    "$(eval "$(part_of_guide propagation-policy 1 | sed "s#^evenkeel#$evenkeel#")")"

# Is it set by the makefile's caller, or read by a program or a script?
is_read() { # NAME
    grep -qE "^$1 \?=|\\$\\($1\\)" Makefile ||
        grep -rqE "(getenv|Getenv|LookupEnv|setting)\\(\"$1\"" --include=*.c --include=*.h --include=*.go \
            src handlers certs tests ||
        grep -rqE "\\$\\{?$1\b" --include=*.sh --include=run tests .ci
}

# Every VARIABLE= of the documents, as it stands in a command or in a sentence. NAME= stands for any name.
variables() { grep -ohE '\b[A-Z][A-Z0-9_]+=' "${documents[@]}" | tr -d = | grep -vx NAME | sort -u; }
unread() { variables | while read -r name; do is_read "$name" || echo "$name"; done; }
check "there are environment variables" test "$(variables | wc -l)" -ge 5
is "each of them is read by something" "$(unread)" ''

# Every `folder/file.c` of the documents, from the top or from where its kind lives; what is made is not looked for.
# shellcheck disable=SC2016  # backquotes of Markdown
files() { grep -ohE '`[A-Za-z0-9_.{}*-]+(/[A-Za-z0-9_.{}*-]+)*/[A-Za-z0-9_.*-]+\.(c|h|sh|go|md|yaml|json)`' "${documents[@]}" | tr -d '\`' | grep -v ^build/ | sort -u; }
missing() {
    local name folder
    files | while read -r name; do
        for folder in . src src/* docs docs/guides tests tests/e2e/kube; do
            compgen -G "$folder/$name" >/dev/null && continue 2
        done
        echo "$name"
    done
}
check "there are files" test "$(files | wc -l)" -ge 50
is "each of them is there" "$(missing)" ''

# Every link that is no URL: the file, and the heading by the name that GitHub gives it.
links() { # FILE TARGET
    awk '{ while (match($0, /\]\([^) ]+\)/)) {
               target = substr($0, RSTART + 2, RLENGTH - 3); $0 = substr($0, RSTART + RLENGTH)
               if (target !~ /:\/\//) print FILENAME, target } }' "${documents[@]}" | sort -u
}
headings() { # FILE#NAME
    awk 'FNR == 1 { code = 0 } /^ *```/ { code = !code } code || !/^#+ / { next }
         { sub(/^#+ /, ""); gsub(/\]\([^)]*\)/, ""); $0 = tolower($0); gsub(/[^a-z0-9_ -]/, ""); gsub(/ /, "-"); print FILENAME "#" $0 }' \
        "${documents[@]}" charts/evenkeel/README.md
}
broken_links() {
    local file target path known
    known=$(headings)
    links | while read -r file target; do
        path=$(dirname "$file")/${target%%#*}
        [[ $target != \#* ]] || path=$file
        if [ ! -e "$path" ]; then
            echo "$file: $target"
        elif [[ $target = *.md#* || $target = \#* ]]; then
            grep -qxF "$(realpath --relative-to=. "$path")#${target#*#}" <<<"$known" || echo "$file: $target"
        fi
    done
}
check "there are links" test "$(links | wc -l)" -ge 100
is "each of them leads somewhere" "$(broken_links)" ''

# Every `make TARGET`.
targets() { grep -ohE '(^|`|sudo )make [a-z][a-z0-9 -]*' "${documents[@]}" | sed -E 's/.*make //' | tr ' ' '\n' | sort -u; }
unmade() { targets | while read -r name; do [ -z "$name" ] || grep -qE "^$name:" Makefile || echo "$name"; done; }
check "there are targets" test "$(targets | wc -l)" -ge 10
is "each of them can be made" "$(unmade)" ''

# Every `evenkeel COMMAND --option` in a shell block: is it an option of that command?
shell_lines() { # joined where they go on
    awk '/^ *```sh/ { on = 1; next } /^ *```/ { on = 0 } on' "${documents[@]}" | sed -E ':a; /\\$/ { N; s/\\\n//; ba }'
}
uses() { # COMMAND OPTION
    shell_lines | grep -oE '(build/|kubectl )?\bevenkeel (serve|explain|topology|simulate|version|completion|check [a-z-]+|certs [a-z]+)( [^|;&>]*)?' |
        sed -E 's/^(build\/|kubectl )?evenkeel //' | awk '{
            command = $1
            if (command == "check" || command == "certs") command = command " " $2
            for (i = 2; i <= NF; i++)
                if ($i ~ /^--[a-z]/) { sub(/=.*/, "", $i); print command "\t" $i } }' | sort -u
}
unknown_options() {
    local name option known='' last=''
    while IFS=$'\t' read -r name option; do
        # shellcheck disable=SC2086  # words
        [ "$name" = "$last" ] || known=$("$evenkeel" $name --help-serve 2>/dev/null || "$evenkeel" $name --help)
        last=$name
        grep -qE "^ {2,6}(-., )?$option\b" <<<"$known" || grep -q -- " $option " <<<"$plugin_help" || echo "$name $option"
    done < <(uses)
}
plugin_help=$(sed -n '/^usage/,/^}/p' charts/kubectl/kubectl-evenkeel)
check "there are options of evenkeel" test "$(uses | wc -l)" -ge 30
is "each is one of its command" "$(unknown_options)" ''

# Every metric that is named.
metrics() { grep -ohE '`evenkeel_[a-z_]+' "${documents[@]}" | tr -d '`' | sort -u; }
unlisted() { comm -23 <(metrics) <(grep -ohE 'evenkeel_[a-z_]+' docs/metrics.md | sort -u); }
is "each metric of the documents is in metrics.md" "$(unlisted)" ''

finish_tests

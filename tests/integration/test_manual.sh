#!/usr/bin/env bash
# The manual page and the completion of shells have every command and every option, and work.
. "$(dirname "$0")/lib.sh"

"$evenkeel" man >"$work/evenkeel.1"
"$evenkeel" completion bash >"$work/completion.bash"
"$evenkeel" completion zsh >"$work/_evenkeel"

plain() { sed 's/\\f.//g; s/\\//g' "$work/evenkeel.1"; } # without troff's escapes

# What main.c has, and the words behind check and certs.
commands() {
    "$evenkeel" --help | sed -nE 's/^  ([a-z-]+) +.*/\1/p' | while read -r name; do
        case $name in
        check) "$evenkeel" check --help | sed -nE 's/^  ([a-z-]+) +[a-zA-Z].*/check \1/p' ;;
        certs) "$evenkeel" certs --help | sed -nE 's/^  ([a-z]+) +.*/certs \1/p' ;;
        *) echo "$name" ;;
        esac
    done
}
options() { # COMMAND: as its help has them
    # shellcheck disable=SC2086  # words
    { "$evenkeel" $1 --help-serve 2>/dev/null || "$evenkeel" $1 --help; } |
        sed -nE 's/^ {2,6}(-., )?(--[a-z-]+).*/\2/p' | sort -u
}
is "the manual's commands" "$(plain | sed -n 's/^\.SS //p' | sort)" "$(commands | sort)"
in_manual() { # COMMAND: its own, those of all, and the settings if it takes them
    plain | awk -v name="$1" '
        /^\.S[SH] / { on = $0 == ".SS " name || $0 ~ /^.SH SETTINGS/ && settings
                      if (!on && $0 ~ /^.SH COMMANDS/) on = 1 }
        on && /^All of SETTINGS/ { settings = 1 }
        on && /^\.TP/ { getline; print }
        on && /^(Every command|with SETTINGS)/ { print }' | grep -oE -- '--[a-z-]+' | sort -u
}
missing() {
    commands | while read -r name; do
        comm -23 <(options "$name") <(in_manual "$name") | sed "s/^/$name: /"
    done
}
check "there are options" test "$(options serve | wc -l)" -ge 50
is "each is in the manual" "$(missing)" ''
if command -v man >/dev/null; then
    is "the manual is troff without a warning" "$(LC_ALL=C.UTF-8 man --warnings -l "$work/evenkeel.1" 2>&1 >/dev/null)" ''
fi

complete_words() { # WORD...: what bash offers for the last one
    bash -c 'source "$1"; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _evenkeel; printf "%s\n" "${COMPREPLY[@]}"' \
        bash "$work/completion.bash" "$@" | sort -u
}
is "bash: commands" "$(complete_words evenkeel '')" "$("$evenkeel" --help | sed -nE 's/^  ([a-z-]+) +.*/\1/p' | sort)"
is "bash: the second word" "$(complete_words evenkeel check c)" $'cluster\nconfig'
unoffered() {
    commands | while read -r name; do
        # shellcheck disable=SC2086  # words
        comm -23 <(options "$name") <(complete_words evenkeel $name --) | sed "s/^/$name: /"
    done
}
is "bash: every option" "$(unoffered)" ''
is "bash: values" "$(complete_words evenkeel serve --compat '' | paste -s -d ' ') $(complete_words evenkeel topology -o '' | paste -s -d ' ')" \
    'correct head legacy json table'
touch "$work/some-pod.yaml"
is "bash: files" "$(complete_words evenkeel simulate --pod "$work/some")" "$work/some-pod.yaml"
# As readline does it: what is typed before the tab, and what the command then gets.
touch "$work/with a \$blank.yaml"
cat >"$work/rc" <<END
. "$work/completion.bash"
evenkeel() { printf '<%s>\n' "\$@"; }
END
typed() { # WORDS: then a tab, and enter
    printf '%s\t\nexit\n' "$1" | timeout 20 script -qec "bash --noprofile --rcfile $work/rc -i" /dev/null 2>/dev/null
}
like "bash: files with blanks" "$(typed "evenkeel simulate --pod $work/with")" "<$work/with a \\\$blank.yaml>"

# A terminal of 60 columns: no row of a table is wider. Sentences below it are the terminal's to break.
example=docs/examples/three-regions
lines_over() { # COLUMNS ARGUMENT...: how many
    local columns=$1
    shift
    timeout 20 script -qec "stty cols $columns; $(printf '%q ' "$evenkeel" "$@")" /dev/null 2>/dev/null |
        tr -d '\r' | sed -E '/^(not judged|no spread|[0-9]+ placed)/d' |
        awk -v columns="$columns" 'length > columns {n++} END {print (NR > 5 ? n + 0 : "too few lines")}'
}
is "a table keeps to the terminal: verdicts" "$(lines_over 60 simulate --state "$example/state.json" --pod "$example/web.yaml")" 0
is "... replicas" "$(lines_over 60 simulate --state "$example/state.json" --pod "$example/web.yaml" --replicas 9)" 0
is "... an admission" "$(lines_over 60 simulate --admit --state "$example/state.json" --policy "$example/policy.yaml" --pod "$example/web.yaml")" 0
is "... nodes and their domains" "$(lines_over 60 topology nodes --state "$example/state.json")" 0

is "bash: shells" "$(complete_words evenkeel completion z)" zsh
same_table() { diff <(sed '/^_evenkeel()/,$d' "$work/completion.bash") <(sed '1d; /^_evenkeel()/,$d' "$work/_evenkeel"); }
check "zsh has the same table" same_table
code=0
out=$("$evenkeel" completion fish 2>&1) || code=$?
like "another shell" "$code $out" "^2 evenkeel completion: no completion for 'fish'; there is bash and zsh"
finish_tests

#!/bin/bash
# includes point down the layers only, and a library is seen only where it belongs
#
# The layers are in the file `layers` beside this script. A file may include headers of its own room,
# which is its folder, and of rooms on a lower level. No headers include each other.
. "$(dirname "$0")/common.sh"

layers=tests/lint/layers
failed=0
while read -r room; do
    for place in src/*/"$room" src/"$room" "$room"; do
        [ ! -e "$place" ] || continue 2
    done
    echo "$layers: there is no '$room'"
    failed=1
done < <(awk '$1 != "#" {for (i = 2; i <= NF; i++) print $i}' "$layers")

# shellcheck disable=SC2016 # the document's own quotes
told=$(sed -nE 's/^\| ([0-9]+) \| `(src\/('"$(awk '$2 == "wings" {$1 = $2 = ""; gsub(/^ +/, ""); gsub(/ +/, "|"); print}' "$layers")"')\/|src\/)?([^`]+)` \|.*/\1 \4/p' docs/architecture.md | sort)
listed=$(awk '$1 != "#" {for (i = 2; i <= NF; i++) print $1, $i}' "$layers" | sort)
if ! diff <(echo "$listed") <(echo "$told"); then
    echo "docs/architecture.md: the table of rooms differs from $layers"
    failed=1
fi

# Headers that include each other, over however many steps.
if ! circle=$(c_files '*.h' src handlers certs |
    xargs grep -HE '^#include "' | sed -E 's/^(src\/[a-z]+\/)?([^:]+):#include "([^"]+)".*/\2 \3/' | tsort 2>&1 >/dev/null); then
    echo "headers include each other:"
    echo "$circle"
    failed=1
fi

{ c_files '*.[ch]' src handlers certs || true; } | xargs -r grep -nHE '^[[:space:]]*#[[:space:]]*include' |
    awk -v layers="$layers" '
    BEGIN {
        while ((getline text < layers) > 0) {
            n = split(text, words, " ")
            for (i = 3; words[2] == "wings" && i <= n; i++)
                rank[words[i]] = i
            for (i = 2; words[1] != "#" && i <= n; i++)
                level[words[i]] = words[1] + 0
        }
        while (("find src -mindepth 2 -maxdepth 2 -type d" | getline text) > 0) {
            split(text, words, "/")
            wing_of[words[3]] = words[2]
        }
        n = split("assert ctype dirent endian errno fcntl float getopt inttypes limits locale " \
                  "malloc math netdb poll pthread sched semaphore signal spawn stdalign stdarg " \
                  "stdatomic stdbool stddef stdint stdio stdlib string strings threads time " \
                  "unistd emmintrin", names, " ") # the last one is of the compiler, for SSE2
        for (i = 1; i <= n; i++)
            libc[names[i] ".h"] = 1
    }
    # The place of a room in the list of wings; 0 if it is in none.
    function rank_of(room) {
        sub(/\/.*/, "", room)
        return rank[wing_of[room]] + 0
    }
    function complain(what) {
        print file ":" line ": " what
        bad = 1
    }
    {
        split($0, parts, ":")
        file = parts[1]
        line = parts[2]
        room = file
        sub(/^src\//, "", room)
        wing = room
        if (sub(/\/.*/, "", wing) && wing in rank)
            sub(/^[a-z]+\//, "", room)
        sub(/\/[^\/]*$/, "", room)
        if (!(room in level)) {
            complain("folder '\''" room "'\'' is in no layer (tests/lint/layers)")
            next
        }
        header = $0
        if (sub(/^[^"<]*"/, "", header)) {
            sub(/".*/, "", header)
            target = header
            if (!sub(/\/[^\/]*$/, "", target))
                complain("write \"" room "/" header "\": includes name the folder")
            else if (!(target in level))
                complain("\"" header "\" is in no layer")
            else if (target != room && level[target] >= level[room])
                complain(room " (level " level[room] ") must not include \"" header \
                         "\" (level " level[target] ")")
            else if (rank_of(room) && rank_of(target) > rank_of(room))
                complain("wing " wing_of[room] " must not include \"" header "\", of wing " wing_of[target])
            next
        }
        sub(/^[^<]*</, "", header)
        sub(/>.*/, "", header)
        if (header ~ /^(microhttpd\.h|gnutls\/)/ && room != "http" && room != "grpc")
            complain("only src/support/http may include <" header ">")
        if (header ~ /^openssl\// && room != "certs")
            complain("only certs may include <" header ">")
        if (header ~ /^curl\// && room != "kube/client")
            complain("only src/kubernetes/kube/client may include <" header ">")
        if (header ~ /^protobuf-c\// && room != "estimator")
            complain("only src/decisions/estimator may include <" header ">")
        if (header ~ /^nghttp2\// && room != "grpc")
            complain("only src/support/grpc may include <" header ">")
        if (header == "yaml.h" && room != "yaml")
            complain("only src/support/yaml may include <" header ">")
        if (room == "base" && !(header in libc) && header !~ /^(sys|linux|net|netinet|arpa)\//)
            complain("src/support/base knows libc only, not <" header ">")
    }
    END { exit bad }' || failed=1
exit "$failed"

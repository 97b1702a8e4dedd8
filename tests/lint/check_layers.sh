#!/bin/bash
# includes point down the layers only, and a library is seen only where it belongs
#
# The layers are those of docs/architecture.md. A file may include headers of its own folder and of
# folders on a lower level.
. "$(dirname "$0")/common.sh"

{ c_files '*.[ch]' src handlers certs || true; } | xargs -r grep -nHE '^[[:space:]]*#[[:space:]]*include' |
    awk '
    BEGIN {
        n = split("base 0 yaml 1 certs 1 kube 2 model 2 cache 3 engine 4 fluid 4 policy 4 multicluster 5 admit 5 http 6 explain 6 " \
                  "handlers 7 cli 8 main.c 9", pairs, " ")
        for (i = 1; i < n; i += 2)
            level[pairs[i]] = pairs[i + 1]
        n = split("assert ctype dirent endian errno fcntl float getopt inttypes limits locale " \
                  "malloc math netdb poll pthread sched semaphore signal spawn stdalign stdarg " \
                  "stdatomic stdbool stddef stdint stdio stdlib string strings threads time " \
                  "unistd", names, " ")
        for (i = 1; i <= n; i++)
            libc[names[i] ".h"] = 1
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
        sub(/\/.*/, "", room)
        if (!(room in level)) {
            complain("folder '\''" room "'\'' is in no layer (tests/lint/check_layers.sh)")
            next
        }
        header = $0
        if (sub(/^[^"<]*"/, "", header)) {
            sub(/".*/, "", header)
            target = header
            if (!sub(/\/.*/, "", target))
                complain("write \"" room "/" header "\": includes name the folder")
            else if (!(target in level))
                complain("\"" header "\" is in no layer")
            else if (target != room && level[target] >= level[room])
                complain(room " (level " level[room] ") must not include \"" header \
                         "\" (level " level[target] ")")
            next
        }
        sub(/^[^<]*</, "", header)
        sub(/>.*/, "", header)
        if (header ~ /^(microhttpd\.h|gnutls\/)/ && room != "http")
            complain("only src/http may include <" header ">")
        if (header ~ /^openssl\// && room != "certs")
            complain("only certs may include <" header ">")
        if (header ~ /^curl\// && room != "kube")
            complain("only src/kube may include <" header ">")
        if (header == "yaml.h" && room != "yaml")
            complain("only src/yaml may include <" header ">")
        if (room == "base" && !(header in libc) && header !~ /^(sys|linux|net|netinet|arpa)\//)
            complain("src/base knows libc only, not <" header ">")
    }
    END { exit bad }'

#!/bin/bash
# functions that must not be used in src, handlers and certs
. "$(dirname "$0")/common.sh"

# shellcheck disable=SC2016  # awk's $0, not the shell's
c_files '*.[ch]' src handlers certs | xargs -r awk '
    BEGIN {
        n = split("strcpy:strbuf_append strcat:strbuf_append sprintf:snprintf vsprintf:vsnprintf " \
                  "gets:file_read strtok:str_find atoi:str_to_i64 atol:str_to_i64 " \
                  "atoll:str_to_i64 atof:strtod alloca:arena_alloc sleep:struct-clock " \
                  "usleep:struct-clock nanosleep:struct-clock clock_nanosleep:struct-clock " \
                  "system:nothing popen:nothing mktemp:mkostemp tmpnam:mkostemp " \
                  "setjmp:err_set longjmp:err_set", pairs, " ")
        for (i = 1; i <= n; i++) {
            split(pairs[i], pair, ":")
            instead[pair[1]] = pair[2]
        }
    }
    FNR == 1 { in_comment = 0 }
    {
        code = $0
        gsub(/"([^"\\]|\\.)*"/, "\"\"", code)
        out = ""
        while (code != "") {
            if (in_comment) {
                end = index(code, "*/")
                code = end ? substr(code, end + 2) : ""
                if (end) in_comment = 0
            } else if ((start = index(code, "/*")) > 0) {
                out = out substr(code, 1, start - 1) " "
                code = substr(code, start + 2)
                in_comment = 1
            } else {
                out = out code
                code = ""
            }
        }
        sub(/\/\/.*/, "", out)
        # Calls: a name, not that of a member, in front of a bracket.
        while (match(out, /[A-Za-z_][A-Za-z0-9_]*[ \t]*\(/)) {
            name = substr(out, RSTART, RLENGTH)
            before = RSTART > 1 ? substr(out, RSTART - 1, 1) : ""
            two = RSTART > 2 ? substr(out, RSTART - 2, 2) : ""
            sub(/[ \t]*\($/, "", name)
            if (name in instead && before != "." && two != "->") {
                print FILENAME ":" FNR ": " name "() is banned; use " instead[name]
                bad = 1
            }
            out = substr(out, RSTART + RLENGTH)
        }
    }
    END { exit bad }'

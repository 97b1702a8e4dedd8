# Reads what a test program prints with -test.v=test2json, and prints a line per scenario, which is a
# test without subtests: its name and seconds. What a scenario that failed has said follows its line;
# text after "e2e: " is shown always. Last line: `N passed, N failed`. Ends with 1 if any failed, or
# if the program did not come to its end. A scenario that is skipped has failed, unless its name
# matches the regular expression may_skip (-v): what nobody runs proves nothing.

# Parents of a test's name: a/b/c has a/b and a.
function outer(name) { return sub(/\/[^\/]*$/, "", name) ? name : "" }

function finish(name, verdict, seconds,    up) {
    done[name] = 1
    # A group is told only when something failed in it that is not a scenario's.
    if (name in group && (verdict != "FAIL" || name in told))
        return
    if (verdict == "SKIP" && (may_skip == "" || name !~ may_skip)) {
        verdict = "FAIL"
        said[name] = said[name] "    skipped, which counts as failed; E2E_MAY_SKIP=" name " allows it\n"
    }
    printf "%-5s %-72s %8.2f s\n", (verdict == "PASS" ? "ok" : verdict == "SKIP" ? "skip" : "FAIL"),
        name, seconds
    if (verdict == "PASS") {
        passed++
    } else if (verdict == "SKIP") {
        skipped++
    } else {
        failed++
        for (up = outer(name); up != ""; up = outer(up))
            told[up] = 1
    }
    if (verdict != "PASS")
        printf "%s", said[name]
    fflush()
}

# What the test framework itself prints begins with this mark.
{ sub(/^\026/, "") }

/^=== (RUN|CONT|NAME|PAUSE) / {
    current = $3 # none: the framework itself
    if (current != "")
        known[current] = 1
    if (outer(current) != "")
        group[outer(current)] = 1
    next
}

/^ *--- (PASS|FAIL|SKIP): / {
    finish($3, substr($2, 1, 4), substr($4, 2) + 0)
    next
}

/^(PASS|FAIL)$/ { ended = 1 }

{ said[current] = said[current] "    " $0 "\n" }

match($0, /e2e: /) {
    print "      " substr($0, RSTART + RLENGTH)
    fflush()
}

/^panic: / { panicked = 1 }
panicked && lines++ < 60 { print "    " $0 }

END {
    for (name in known)
        if (!(name in done) && !(name in group)) {
            printf "FAIL  %s did not end\n%s", name, said[name]
            failed++
        }
    if (!ended && !failed) {
        print "FAIL  the tests did not come to their end"
        failed++
    }
    if (skipped)
        printf "%d skipped\n", skipped
    printf "%d passed, %d failed\n", passed, failed
    exit failed > 0
}

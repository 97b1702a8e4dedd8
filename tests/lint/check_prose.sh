#!/bin/bash
# comments are sentences: none begins with a clause in the place of a noun, none is "told" or "heard"
#
# A reader in a hurry, whose first language is not English, reads a comment once. What follows made people
# read twice: a comment that begins with Of, Whose, Who, What, Such, Which, That or "One that", a sentence
# within it that begins so, and "told", "heard", "there are none", "is none", "says so". Write a subject, a verb and an object;
# the noun instead of "what"; "Returns ..." for a function.
. "$(dirname "$0")/common.sh"
# shellcheck disable=SC2016 # awk expands it
{ c_files '*.[ch]' src handlers certs || true; } | xargs -r awk '
    function complain(why) {
        print FILENAME ":" FNR ": " why ": " text
        bad = 1
    }
    FNR == 1 { within = 0 }
    {
        begins = within && text == "" && begins # the first line has no more than the bar
        text = ""
        if (within) {
            text = $0
            sub(/^ *\*( |$)/, "", text)
        } else if (match($0, /\/\*/)) {
            text = substr($0, RSTART + 2)
            begins = within = 1
        }
        if (text ~ /\*\//) {
            within = 0
            sub(/\*\/.*/, "", text)
        }
        sub(/^ +/, "", text)
    }
    begins && text ~ /^(Of|Whose|Who|What|Such|Which|That|Ones? that) / { complain("begins with no noun"); next }
    text ~ /(^|[.;:] )(Of|Whose|Who|Such|One that) / { complain("a sentence begins with no noun"); next }
    text ~ /(^| )(told|hears?|heard|tells?|is none|there (is|are) none|says? so)([ .,;:]|$)/ { complain("say who does what") }
    END { exit bad }'

# The table of values for README.md, from values.yaml: a row for each key that has a value in its line, with
# the comment behind it.
{
    if ($0 ~ /^ *#/ || $0 !~ /^ *[A-Za-z]+:/)
        next
    match($0, /^ */)
    level = RLENGTH / 2
    line = substr($0, RLENGTH + 1)
    comment = ""
    if (match(line, / +# /)) {
        comment = substr(line, RSTART + RLENGTH)
        line = substr(line, 1, RSTART - 1)
    }
    colon = index(line, ":")
    key[level] = substr(line, 1, colon - 1)
    value = substr(line, colon + 2)
    path = key[0]
    for (i = 1; i <= level; i++)
        path = path "." key[i]
    if (value == "") {
        about[path] = comment
        next
    }
    parent = path
    sub(/\.[^.]*$/, "", parent)
    if (comment == "" && parent in about)
        comment = about[parent]
    gsub(/\|/, "\\|", comment)
    printf "| `%s` | `%s` | %s |\n", path, value, comment
}

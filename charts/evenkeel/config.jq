# The part "config" of values.schema.json, from the tables of docs/configuration.md, which are made from the
# program's own table of settings:
#
#   jq -R -s --argjson sections '["spread", ...]' -f config.jq docs/configuration.md
#
# Settings that name a file are left out: the chart's pods have no files but their own. So is what a door is there
# for, or has a value of its own.
def own: "ocm.enabled", "estimator.listen", "estimator.members", "estimator.fromKarmada", "estimator.services", "estimator.serviceHost", "estimator.allowedSubjects";

def rows: [split("\n")[] | select(startswith("| `")) | split(" | ")
    | {path: (.[0] | ltrimstr("| `") | rtrimstr("`") | split(".")), type: .[1], required: (.[2] == "required")}];

# {least, most} of a type: "integer, 1 to 8", "list of objects, at most 64".
def bounds: capture("(, (?<least>[0-9]+) to (?<most>[0-9]+)|, at most (?<end>[0-9]+))$") // {}
    | {least, most: (.most // .end)} | map_values(select(. != null) | tonumber);

def leaf:
    if . == "removed" then {deprecated: true} # values of former versions are no mistake
    elif startswith("integer") then {type: "integer"} + (bounds | {minimum: .least, maximum: .most})
    elif startswith("one of ") then {enum: (ltrimstr("one of ") | split(", "))}
    elif startswith("list of ") then {type: "array", items: {type: "string"}}
    elif . == "boolean" then {type: "boolean"}
    elif . == "label selector" then {
        type: "object",
        additionalProperties: false,
        properties: {
            matchLabels: {type: "object", additionalProperties: {type: "string"}},
            matchExpressions: {type: "array", items: {type: "object"}}
        }
    }
    else {type: "string"} end;

# Of settings, the paths of which begin below the object.
def object:
    . as $rows | ([.[] | select(.required and (.path | length) == 1) | .path[0]]) as $required
    | {type: "object", additionalProperties: false}
    + (if $required == [] then {} else {required: $required} end)
    + {properties: (reduce ([.[].path[0] | rtrimstr("[]")] | unique[]) as $key ({};
        [$rows[] | select(.path == [$key])][0].type as $type
        | [$rows[] | select((.path[0] | rtrimstr("[]")) == $key and (.path | length) > 1) | .path |= .[1:]] as $below
        | .[$key] = if $below == [] then $type | leaf
                    elif $type == null then $below | object
                    else {type: "array"} + ($type | bounds | {minItems: .least, maxItems: .most} | map_values(select(. != null)))
                         + {items: ($below | object)} end))};

rows | map(select((.path[0] | IN($sections[])) and .type != "file" and (.path | join(".") | IN(own) | not))) | object

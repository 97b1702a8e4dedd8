# Recorded answers of Karmada's own code (tests/conformance/data/karmada) as questions to `simulate --lines`.
#
# For each file there is NAME_cases, which makes of a recorded case one or more of {ask: a question, want: what is to
# be seen of its answer}, and NAME_seen($case), which picks the same out of an answer.

# Members that are null were not there when the case was recorded.
def given: with_entries(select(.value != null));

# ---- the wordings that vary ----

# Reasons of filters depend on the order of a Go map where several filters refuse a cluster: what is the same is how
# many clusters there are, how many reasons, and that each is known.
def known_reason: test("^[0-9]+ (cluster\\(s\\) (had untolerated taint \\{.*\\}"
    + "|did not match the placement cluster affinity constraint|did not have the API resource"
    + "|did not have (provider|region|zones) property|is in the process of eviction)|no cluster exists)$");
def fit_error: if test("^0/[0-9]+ clusters are available: .*\\.$") then
        capture("^0/(?<all>[0-9]+) clusters are available: (?<reasons>.*)\\.$")
        | {all: .all, reasons: (.reasons | split(", "))}
        | if all(.reasons[]; known_reason) then
            {all: .all, refused: ([.reasons[] | split(" ")[0] | tonumber] | add)} else . end
    else . end;

# ---- groups ----

def select_groups_cases: {
    ask: {step: "groups", items: [.in[] | {name: .Name, value: .Value, weight: .Weight}], min, max, target},
    want: {groups: (.out // [])}};
def select_groups_seen($case): {groups};

# ---- placements of a strategy ----

def replica_scheduling($rules): {
    dup: {replicaSchedulingType: "Duplicated"},
    agg: {replicaSchedulingType: "Divided", replicaDivisionPreference: "Aggregated"},
    dyn: {replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted",
        weightPreference: {dynamicWeight: "AvailableReplicas"}},
    static: {replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted",
        weightPreference: {staticWeightList: $rules}},
    wnil: {replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted"},
    wempty: {replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted", weightPreference: {}},
    nil: null}[.];
def rule($name; $weight): {targetCluster: {clusterNames: [$name]}, weight: $weight};

# ---- select ----

def select_best_clusters_cases: {
    ask: {step: "select", replicas,
        candidates: [.clusters[] | {name: .Name, provider: .Provider, region: .Region, zones: .Zones,
            score: .Score, allocatable: .Alloc, previous: .Prev} | given],
        placement: ({spreadConstraints: .constraints,
            replicaScheduling: ([.clusters[] | rule(.Name; 1)] as $rules | .strategy | replica_scheduling($rules))} | given),
        options: {compat: "v1.18.1"}},
    want: {clusters: (.out // []), error: .err,
        scores: {provider: .providerScores, region: .regionScores, zone: .zoneScores}}};
def select_best_clusters_seen($case): {clusters: (.clusters // []), error: (.error // ""),
    scores: (.scores as $scores | {provider: {}, region: {}, zone: {}} | with_entries(.value = ($scores[.key] // {})))};

# ---- assign ----

def assign_replicas_cases: .overflow as $overflow | {
    ask: {step: "assign", overflow,
        candidates: [.candidates[] | {name: .Name, available: .Avail, allocatable: .Alloc}
            + if $overflow then {overflowOrder: .Order} else {} end],
        spec: ({resource: {apiVersion: "apps/v1", kind: "Deployment", uid: .uid}, replicas, replicaRequirements: {},
            clusters: .prev, rescheduleTriggeredAt: (if .fresh then "2026-03-01T12:00:01Z" else null end),
            placement: ({replicaScheduling: ([.candidates[] | select(.StaticWeight > 0) | rule(.Name; .StaticWeight)] as $rules
                | .strategy | replica_scheduling($rules))} | given)} | given),
        status: {lastScheduledTime: "2026-03-01T12:00:00Z"}},
    want: {clusters: (.out // {}), error: .err}};
def assign_replicas_seen($case): {clusters: (.clusters // {}), error: (.error // "")};
def assign_replicas_large_cases: assign_replicas_cases;
def assign_replicas_large_seen($case): assign_replicas_seen($case);

# ---- schedule ----

def schedule_e2e_cases: {
    ask: {step: "schedule", clusters, spec, status, enableEmptyWorkloadPropagation, options: {compat: "v1.18.1"}},
    want: {clusters: (.out // {}), errorKind: .errKind, error: (.err | fit_error)}};
def schedule_e2e_seen($case): {clusters: (.clusters // {}), errorKind: (.errorKind // ""),
    error: ((.error // "") | fit_error)};

# ---- estimate ----

def general_estimator_cases: {
    ask: ({step: "estimate", cluster, requirements, components} | given), want: {replicas, sets}};
def general_estimator_seen($case): {replicas, sets};

def accurate_estimator_cases:
    {ask: {step: "estimate", nodes, pods, wire}, want: {error: .err, replicas: .out, wire: .respWire}},
    {ask: {step: "estimate", nodes, pods, componentsWire}, want: {error: "", sets}};
def accurate_estimator_seen($case): . + {error: (.error // "")}
    | with_entries(select(.key as $key | $case.want | has($key)));

# ---- quantity ----

def quantity_cases: {ask: {step: "quantity", text: .in, wrap: true},
    want: (if .err then {refused: true} else {canonical, value, milli, format, wire} end)};
def quantity_seen($case): if .error then {refused: true} else {canonical, value, milli, format, wire} end;

# What a text is written in. The recorded format is that of the text or, where Go kept a number in another form, not.
def family: if test("[KMGTPE]i$") then "BinarySI" elif test("[eE][+-]?[0-9]+$") then "DecimalExponent" else "DecimalSI" end;
def is_zero: test("^[+-]?[0.]+([a-zA-Z]|$)");
def quantity_sub_cases: (if .a | is_zero then .b else .a end | family) as $family
    | {ask: {step: "quantity", a, b, wrap: true},
        want: (if .subFormat == $family then {add, sub, cmp, subFormat} else {cmp} end)};
def quantity_sub_seen($case): with_entries(select(.key as $key | $case.want | has($key)));

# ---- wire ----

# A line of wire_golden.txt: KIND [VERSION [(NOTE)]] HEX. Of every version where none is said.
def message: {request: "MaxAvailableReplicasRequest", "request-empty": "MaxAvailableReplicasRequest", claim: "NodeClaim",
    uns: "UnschedulableReplicasRequest", toleration: "Toleration", selector: "NodeSelector",
    sets: "MaxAvailableComponentSetsRequest"}[.];
def wire_golden_cases: split(" ") as $words | ($words[0] | message) as $message | select($message)
    | $words[-1] as $hex | ($words[1:-1] | map(select(test("^v1|^f8fdd02$")))) as $versions
    | {ask: {step: "wire", message: $message, hex: $hex,
        epoch: (if $versions == [] then "v1.17.0", "v1.18.0", "f8fdd02" else $versions[] end)}, want: {hex: $hex}};
def wire_golden_seen($case): {hex};

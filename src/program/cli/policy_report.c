#include "cli/policy_report.h"

#include "base/json_writer.h"
#include "cli/answer_table.h"

static const struct str condition_names[POLICY_CONDITIONS] = {
    [POLICY_READY] = {"ready", 5},
    [POLICY_EFFECTIVE] = {"effective", 9},
    [POLICY_SHADOWED] = {"shadowed", 8},
};

static const struct policy_reason_row *row_of(const struct checked_policy *p, int condition) {
    return &policy_reasons[p->verdict.reasons[condition]];
}

static uint32_t count_harmed(const struct policy_check *check) {
    uint32_t harmed = 0;
    for (uint32_t i = 0; i < check->workload_count; i++)
        harmed += check->workloads[i].harmed;
    return harmed;
}

static bool any_is_for(const struct policy_check *check, enum policy_target target) {
    for (uint32_t i = 0; i < check->policy_count; i++)
        if (check->policies[i].is_for[target])
            return true;
    return false;
}

static void put_not_judged(const struct policy_check *check, struct strbuf *out) {
    engine_put_not_judged(FILTERS_ALL, &check->unknown, out);
    if (any_is_for(check, POLICY_FOR_PLACEMENTS))
        strbuf_append_str(out, check->clusters > 0 ? STR(", effects on Placements")
                                                   : STR(", clusters of a fleet"));
}

static const struct {
    const char *word, *text;
} verdicts[POLICY_SOUNDNESSES] = {
    [POLICY_SOUND] = {"Sound", "sound"},
    [POLICY_NOT_SOUND] = {"NotSound", "not sound"},
    [POLICY_SOUND_UNKNOWN] = {"Unknown", "not known to be sound: a policy is for nothing here"},
};

/* ---- for programs ---- */

static void put_number(struct json_writer *w, struct str key, int64_t number) {
    json_key(w, key);
    json_put_integer(w, number);
}

/* Puts a sentence that may have been cut inside a character. */
static void put_text(struct json_writer *w, struct str key, struct str text) {
    json_key(w, key);
    json_put_text(w, text);
}

static void put_policy(const struct checked_policy *p, struct json_writer *w) {
    json_begin_object(w);
    json_put_member(w, STR("name"), p->name);
    put_number(w, STR("priority"), p->priority);
    json_put_member(w, STR("mode"), policy_mode_names[p->mode]);
    for (int i = 0; i < POLICY_CONDITIONS; i++) {
        json_key(w, condition_names[i]);
        json_begin_object(w);
        json_put_member(w, STR("status"), str_of(row_of(p, i)->status));
        json_put_member(w, STR("reason"), str_of(row_of(p, i)->name));
        put_text(w, STR("message"), p->verdict.messages[i]);
        json_end_object(w);
    }
    json_put_member(w, STR("placements"), p->placement_keys);
    if (p->clusters_judged)
        put_number(w, STR("matchedPlacements"), p->matched_placements);
    put_number(w, STR("workloads"), p->workloads);
    put_number(w, STR("pods"), p->pods);
    put_number(w, STR("injected"), p->injected);
    put_number(w, STR("softened"), p->softened);
    put_number(w, STR("skipped"), p->skipped);
    put_number(w, STR("harmed"), p->harmed);
    json_end_object(w);
}

static void put_constraints(const struct checked_workload *c, struct json_writer *w) {
    json_key(w, STR("constraints"));
    json_begin_array(w);
    for (uint32_t i = 0; i < c->constraint_count; i++) {
        json_begin_object(w);
        json_put_member(w, STR("topologyKey"), c->constraints[i].topology_key);
        json_put_member(w, STR("result"), str_of(spread_result(c->constraints[i].fate)));
        json_put_member(w, STR("reason"), str_of(spread_reason(c->constraints[i].fate)));
        json_end_object(w);
    }
    json_end_array(w);
}

static void put_workload(const struct checked_workload *c, struct json_writer *w) {
    json_begin_object(w);
    json_put_member(w, STR("namespace"), c->namespace);
    json_put_member(w, STR("kind"), c->kind);
    json_put_member(w, STR("name"), c->name);
    put_number(w, STR("pods"), c->pods);
    json_key(w, STR("policies"));
    json_begin_object(w);
    json_put_member(w, STR("spread"), c->spread_policy);
    json_put_member(w, STR("locality"), c->locality_policy);
    json_put_member(w, STR("weights"), c->weights_policy);
    json_end_object(w);
    put_text(w, STR("unchanged"), c->unchanged);
    put_text(w, STR("changes"), c->changes);
    put_constraints(c, w);
    json_key(w, STR("warnings"));
    json_begin_array(w);
    for (uint32_t i = 0; i < c->warning_count; i++)
        json_put_text(w, c->warnings[i]);
    json_end_array(w);
    json_key(w, STR("patch"));
    json_put_raw(w, c->patch);
    put_text(w, STR("denial"), c->denial);
    put_number(w, STR("placed"), c->placed);
    put_number(w, STR("pendingWithout"), c->pending_without);
    put_number(w, STR("pendingWith"), c->pending_with);
    put_text(w, STR("reason"), c->reason);
    json_key(w, STR("harmed"));
    json_put_bool(w, c->harmed);
    json_end_object(w);
}

static void print_json(const struct policy_check *check, struct strbuf *out) {
    CLEANUP(strbuf_done) struct strbuf not_judged = {0};
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_key(&w, STR("sound"));
    json_put_bool(&w, check->soundness == POLICY_SOUND);
    json_put_member(&w, STR("verdict"), str_of(verdicts[check->soundness].word));
    put_number(&w, STR("nodes"), check->nodes);
    put_number(&w, STR("clusters"), check->clusters);
    put_number(&w, STR("harmed"), count_harmed(check));
    put_number(&w, STR("others"), check->others);
    json_key(&w, STR("policies"));
    json_begin_array(&w);
    for (uint32_t i = 0; i < check->policy_count; i++)
        put_policy(&check->policies[i], &w);
    json_end_array(&w);
    json_key(&w, STR("workloads"));
    json_begin_array(&w);
    for (uint32_t i = 0; i < check->workload_count; i++)
        put_workload(&check->workloads[i], &w);
    json_end_array(&w);
    put_not_judged(check, &not_judged);
    json_put_member(&w, STR("notJudged"), strbuf_str(&not_judged));
    json_end_object(&w);
}

/* ---- for people ---- */

static const struct answer_column policy_columns[] = {
    COLUMN("POLICY", "{name}"),
    COLUMN("MODE", "{mode}"),
    COLUMN("READY", "{ready.reason}"),
    COLUMN("EFFECTIVE", "{effective.reason}"),
    COLUMN("SHADOWED", "{shadowed.reason}"),
    NUMBER("WORKLOADS", "{#workloads}"),
    NUMBER("INJECTED", "{#injected}"),
    NUMBER("SOFTENED", "{#softened}"),
    NUMBER("SKIPPED", "{#skipped}"),
    NUMBER("HARMED", "{#harmed}"),
};
static const struct answer_table policies = {COLUMNS(policy_columns), .is_first = true};

static struct str cell_policy(const struct value *workload, const void *ctx) {
    const struct str spread = value_text(value_at(workload, "policies.spread"));
    const struct str locality = value_text(value_at(workload, "policies.locality"));
    (void)ctx;
    return value_cell(workload, str_eq(spread, locality)
                                    ? "[{policies.spread}|{policies.weights}]"
                                    : "[{policies.spread}, {policies.locality}|{policies.spread}|"
                                      "{policies.locality}]");
}

static const struct answer_column workload_columns[] = {
    COLUMN("NAMESPACE", "{namespace}"),
    COLUMN("WORKLOAD", "{~kind}/{~name}"),
    NUMBER("PODS", "{#pods}"),
    CELL("POLICY", cell_policy, NULL),
    COLUMN("PENDING", "[{?placed}{#pendingWithout} -> {#pendingWith} of {#placed}|-]"),
    COLUMN("CHANGES", "[DENIED: {denial}|none: {unchanged}|{changes}|none]"),
};
static const struct answer_table workloads = {COLUMNS(workload_columns)};

static void put_tables(const struct value *root, struct strbuf *out) {
    answer_table_put(&policies, value_as(root, "policies", JSON_ARRAY), out);
    answer_table_put(&workloads, value_as(root, "workloads", JSON_ARRAY), out);
}

/* Appends each policy's bad conditions, its parts that are not checked, and each workload that is
 * harmed. */
static void put_problems(const struct policy_check *check, struct strbuf *out) {
    for (uint32_t i = 0; i < check->policy_count; i++) {
        const struct checked_policy *p = &check->policies[i];
        for (int k = 0; k < POLICY_CONDITIONS; k++) {
            const char *good = k == POLICY_SHADOWED ? "False" : "True";
            const char *status = row_of(p, k)->status;
            const bool is_unknown = strcmp(status, "Unknown") == 0;
            if (strcmp(status, good) != 0)
                strbuf_appendf(out, "policy '%.*s' is %s%s: %.*s\n", STR_ARG(p->name),
                               is_unknown             ? "not known to be "
                               : k == POLICY_SHADOWED ? ""
                                                      : "not ",
                               condition_names[k].p, STR_ARG(p->verdict.messages[k]));
        }
        if (p->verdict.reasons[POLICY_READY] != POLICY_CANNOT_WORK &&
            p->is_for[POLICY_FOR_PLACEMENTS] && !p->clusters_judged && p->is_for[POLICY_FOR_PODS])
            strbuf_appendf(out,
                           "policy '%.*s' is also for Placements, by %.*s, which is not checked: "
                           "the state has no ManagedCluster\n",
                           STR_ARG(p->name), STR_ARG(p->placement_keys));
        if (p->workloads == 0 && !is_for_placements_only(p))
            strbuf_appendf(out, "policy '%.*s' is for no workload of this cluster\n",
                           STR_ARG(p->name));
    }
    for (uint32_t i = 0; i < check->workload_count; i++) {
        const struct checked_workload *w = &check->workloads[i];
        if (w->harmed && w->placed > 0)
            strbuf_appendf(out,
                           "%.*s '%.*s' of namespace '%.*s' is harmed: of %u pods %u would be "
                           "Pending instead of %u: %.*s\n",
                           STR_ARG(w->kind), STR_ARG(w->name), STR_ARG(w->namespace), w->placed,
                           w->pending_with, w->pending_without, STR_ARG(w->reason));
    }
}

/* Appends the number of checked constraints, and the objects that they were checked against. */
static void put_basis(const struct policy_check *check, struct strbuf *out) {
    uint32_t constraints = 0;
    for (uint32_t i = 0; i < check->policy_count; i++)
        constraints += check->policies[i].constraints;
    strbuf_appendf(out, ": %u %s beside ", constraints,
                   constraints == 1 ? "constraint" : "constraints");
    if (check->nodes > 0)
        strbuf_appendf(out, "%u nodes%s", check->nodes, check->clusters > 0 ? " and " : "");
    if (check->clusters > 0)
        strbuf_appendf(out, "%u clusters", check->clusters);
    strbuf_appendf(out, " of %.*s can be met%s", STR_ARG(check->source),
                   any_is_for(check, POLICY_FOR_PODS) ? ", and keep no pod from running" : "");
}

/* Appends the text after the tables. */
static void put_verdict(const struct policy_check *check, struct strbuf *out) {
    strbuf_append_char(out, '\n');
    put_problems(check, out);
    strbuf_appendf(out, "%u workload%s with a part of these policies, %u without; %u harmed\n",
                   check->workload_count, check->workload_count == 1 ? "" : "s", check->others,
                   count_harmed(check));
    strbuf_append_str(out, STR("not judged: "));
    put_not_judged(check, out);
    strbuf_appendf(out, "\n%s", verdicts[check->soundness].text);
    if (check->soundness == POLICY_SOUND)
        put_basis(check, out);
    strbuf_append_str(out, STR("\n"));
    strbuf_append_char(out, '\0');
}

int policy_check_print(const struct policy_check *check, bool as_json) {
    CLEANUP(strbuf_done) struct strbuf json = {0}, verdict = {0};
    print_json(check, &json);
    if (check->findings != NULL)
        findings_put(check->findings, &json);
    put_verdict(check, &verdict);
    return answer_write("check", strbuf_failed(&verdict) ? &verdict : &json,
                        as_json ? NULL : put_tables, NULL, verdict.p);
}

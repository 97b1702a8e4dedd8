#include "explain/scheduling.h"

#include "explain/domains.h"

enum { SELECTOR_SHOWN = 256 };

/* ---- constraints ---- */

static void print_values(const struct requirement *q, struct strbuf *out) {
    strbuf_append_char(out, '(');
    for (uint32_t i = 0; i < q->value_count; i++)
        strbuf_appendf(out, "%s%.*s", i > 0 ? "," : "", STR_ARG(q->values[i]));
    strbuf_append_char(out, ')');
}

/* Prints the requirement as `kubectl --selector` accepts it. */
static void print_requirement(const struct requirement *q, struct strbuf *out) {
    const char *before = q->op == SELECTOR_DOES_NOT_EXIST ? "!" : "";
    strbuf_appendf(out, "%s%.*s", before, STR_ARG(q->key));
    switch (q->op) {
    case SELECTOR_IN:
        if (q->value_count == 1) {
            strbuf_appendf(out, "=%.*s", STR_ARG(q->values[0]));
        } else {
            strbuf_append_str(out, STR(" in "));
            print_values(q, out);
        }
        break;
    case SELECTOR_NOT_IN:
        strbuf_append_str(out, STR(" notin "));
        print_values(q, out);
        break;
    case SELECTOR_GT:
    case SELECTOR_LT:
        strbuf_appendf(out, "%c%lld", q->op == SELECTOR_GT ? '>' : '<', (long long)q->bound);
        break;
    case SELECTOR_EXISTS:
    case SELECTOR_DOES_NOT_EXIST:
        break;
    }
}

static void put_selector(struct decision *d, const struct selector *selector) {
    char bytes[SELECTOR_SHOWN];
    /* the text never grows, so it stays in `bytes` */
    struct strbuf text = {.p = bytes, .cap = sizeof bytes, .max = sizeof bytes};
    if (selector->nothing)
        strbuf_append_str(&text, STR("(nothing)"));
    else if (selector->count == 0)
        strbuf_append_str(&text, STR("(everything)"));
    for (uint32_t i = 0; i < selector->count && !text.failed; i++) {
        size_t before = text.n;
        if (i > 0)
            strbuf_append_char(&text, ',');
        print_requirement(&selector->items[i], &text);
        if (text.failed || text.n > sizeof bytes - 4) {
            text.n = before;
            text.failed = false;
            strbuf_append_str(&text, i > 0 ? STR(",...") : STR("..."));
            break;
        }
    }
    json_put_member(&d->w, STR("selector"), strbuf_str(&text));
}

/* `result` is the filter's; NULL if the constraint was applied to scores. */
static void put_constraint(struct decision *d, const struct applied_constraint *a,
                           const struct filter_result *result) {
    static const struct str origins[] = {{"pod", 3}, {"defaults", 8}, {"rule", 4}};
    const struct spread_constraint *c = a->constraint;
    struct json_writer *w = &d->w;
    json_begin_object(w);
    json_put_member(w, STR("from"), origins[a->origin]);
    if (a->origin == CONSTRAINT_OF_RULE)
        json_put_member(w, STR("rule"), a->rule);
    json_put_member(w, STR("topologyKey"), c->topology_key);
    json_put_member(w, STR("whenUnsatisfiable"),
                    c->hard ? STR("DoNotSchedule") : STR("ScheduleAnyway"));
    json_key(w, STR("maxSkew"));
    json_put_integer(w, c->max_skew);
    if (c->min_domains > 1) {
        json_key(w, STR("minDomains"));
        json_put_integer(w, c->min_domains);
    }
    put_selector(d, a->selector);
    if (a->domains > 0) {
        json_key(w, STR("domains"));
        json_put_integer(w, a->domains);
        json_key(w, STR("fewestPods"));
        json_put_integer(w, a->least);
    }
    if (result != NULL)
        decision_put_domains(d, result, a);
    json_end_object(w);
}

void decision_put_constraints(struct decision *d, const struct applied_constraint *applied,
                              uint32_t count, const struct filter_result *result) {
    if (!decision_begin_list(d, STR("constraints")))
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct decision_mark before = decision_mark(d);
        put_constraint(d, &applied[i], result);
        if (!decision_keep(d, before))
            break;
    }
    json_end_array(&d->w);
}

/* ---- nodes that were dropped ---- */

/* The nodes that one reason dropped. */
struct group {
    enum verdict verdict;
    struct str reason;
    uint32_t nodes;
};

static void begin_group(struct decision *d, const struct group *group) {
    struct json_writer *w = &d->w;
    json_begin_object(w);
    json_put_member(w, STR("verdict"), str_of(verdict_names[group->verdict]));
    json_put_member(w, STR("reason"), group->reason);
    json_key(w, STR("nodes"));
    json_put_integer(w, group->nodes);
    json_key(w, STR("names"));
    json_begin_array(w);
}

static bool put_name(struct decision *d, struct str name) {
    struct decision_mark before = decision_mark(d);
    json_put_string(&d->w, name);
    return decision_keep(d, before);
}

static void end_group(struct decision *d) {
    json_end_array(&d->w);
    json_end_object(&d->w);
}

/* Returns the first candidate, from `at` on, that this reason dropped; `count` if there is no such
 * candidate. */
static uint32_t next_with(const struct filter_result *result, uint8_t reason, uint32_t at,
                          uint32_t count) {
    const uint8_t *found = at < count ? memchr(result->reasons + at, reason, count - at) : NULL;
    return found != NULL ? (uint32_t)(found - result->reasons) : count;
}

static void put_dropped(struct decision *d, const struct candidates *candidates,
                        const struct filter_result *result, uint8_t reason, uint32_t nodes) {
    struct decision_mark before = decision_mark(d);
    uint32_t at = next_with(result, reason, 0, candidates->count);
    const struct group group = {result->verdicts[at], result->reason_texts[reason], nodes};
    begin_group(d, &group);
    if (!decision_keep(d, before))
        return;
    for (uint32_t left = d->nodes; left > 0 && at < candidates->count; left--) {
        if (!put_name(d, candidates->names[at]))
            break;
        at = next_with(result, reason, at + 1, candidates->count);
    }
    end_group(d);
}

/* Counts the candidates with each reason. Even and odd candidates have separate counters, so that
 * no addition waits for the one before it. */
static void count_reasons(const struct filter_result *result, uint32_t count,
                          uint32_t counts[static UINT8_MAX + 1]) {
    uint32_t odd[UINT8_MAX + 1] = {0};
    for (uint32_t i = 0; i + 1 < count; i += 2) {
        counts[result->reasons[i]]++;
        odd[result->reasons[i + 1]]++;
    }
    if (count % 2 != 0)
        counts[result->reasons[count - 1]]++;
    for (uint32_t reason = 0; reason <= UINT8_MAX; reason++)
        counts[reason] += odd[reason];
}

static void put_counts_of(struct json_writer *w, const struct applied_constraint *a) {
    json_begin_object(w);
    json_put_member(w, STR("topologyKey"), a->constraint->topology_key);
    json_key(w, STR("pods"));
    json_begin_object(w);
    for (uint32_t i = 0; i < a->count_count; i++) {
        json_key(w, a->counts[i].name);
        json_put_integer(w, a->counts[i].pods);
    }
    json_end_object(w);
    json_end_object(w);
}

/* Does the constraint have counts by domain, but no detailed reports of its domains? */
static bool has_counts(const struct applied_constraint *a) {
    return a->count_count > 0 && a->reports == NULL;
}

/* Writes the counts last: if there is no room, the reasons of dropped nodes matter more. */
static void put_counts(struct decision *d, const struct filter_result *result) {
    uint32_t i = 0;
    while (i < result->applied_count && !has_counts(&result->applied[i]))
        i++;
    if (i == result->applied_count || !decision_begin_list(d, STR("podsByDomain")))
        return;
    for (; i < result->applied_count; i++) {
        struct decision_mark before = decision_mark(d);
        if (!has_counts(&result->applied[i]))
            continue;
        put_counts_of(&d->w, &result->applied[i]);
        if (!decision_keep(d, before))
            break;
    }
    json_end_array(&d->w);
}

void decision_put_filter(struct decision *d, const struct candidates *candidates,
                         const struct filter_result *result) {
    uint32_t counts[UINT8_MAX + 1] = {0};
    count_reasons(result, candidates->count, counts);
    decision_put_constraints(d, result->applied, result->applied_count, result);
    decision_put_number(d, STR("candidates"), candidates->count);
    decision_put_number(d, STR("passed"),
                        counts[0]); /* reason 0: a dropped node has another reason */
    if (!decision_begin_list(d, STR("dropped")))
        return;
    for (uint32_t reason = 1; reason < result->reason_count; reason++)
        if (counts[reason] > 0)
            put_dropped(d, candidates, result, (uint8_t)reason, counts[reason]);
    json_end_array(&d->w);
    put_counts(d, result);
}

void decision_put_offered(struct decision *d, const struct candidates *offered,
                          const struct filter_result *result) {
    if (result->known > offered->count)
        decision_put_number(d, STR("knownNodes"), result->known);
}

void decision_put_preemptions(struct decision *d, const struct preemption *preemptions,
                              const bool *fits, uint32_t count) {
    struct group group = {VERDICT_UNSCHEDULABLE, STR("evicting its victims makes no room"), 0};
    for (uint32_t i = 0; i < count; i++)
        group.nodes += !fits[i];
    decision_put_number(d, STR("candidates"), count);
    decision_put_number(d, STR("passed"), count - group.nodes);
    if (!decision_begin_list(d, STR("dropped")))
        return;
    struct decision_mark before = decision_mark(d);
    if (group.nodes > 0)
        begin_group(d, &group);
    if (group.nodes > 0 && decision_keep(d, before)) {
        uint32_t left = group.nodes < d->nodes ? group.nodes : d->nodes;
        for (uint32_t i = 0; left > 0 && i < count; i++)
            if (!fits[i]) {
                left--;
                if (!put_name(d, preemptions[i].node))
                    break;
            }
        end_group(d);
    }
    json_end_array(&d->w);
}

/* ---- bindings ---- */

void decision_put_binding(struct decision *d, struct str node, struct str by, struct str from) {
    decision_put_string(d, STR("node"), node);
    decision_put_string(d, STR("by"), by);
    decision_put_string(d, STR("from"), from);
}

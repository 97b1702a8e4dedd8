#include "explain/domains.h"

#include "explain/reasons.h"

enum { NAMES_SHOWN = 6, ONLY_SHOWN = 3, REASONS_SHOWN = 3, SENTENCE_BYTES = 1024 };

/* ---- the sentence ---- */

/* Counts the nodes of the allowed domains, by the reason that refused them. */
struct allowed {
    uint32_t domains, nodes, passed;
    uint32_t by_reason[256]; /* a reason is a byte */
};

static void add_up(const struct applied_constraint *a, struct allowed *ret) {
    *ret = (struct allowed){0};
    for (uint32_t i = 0; i < a->report_count && a->reports[i].allowed; i++) {
        const struct domain_report *d = &a->reports[i];
        ret->domains++;
        ret->nodes += d->nodes;
        ret->passed += d->passed;
        for (uint32_t k = 0; k < d->refused_count; k++)
            ret->by_reason[d->refused[k].reason] += d->refused[k].nodes;
    }
}

static void say_names(const struct applied_constraint *a, uint32_t domains, uint32_t most,
                      struct strbuf *out) {
    uint32_t shown = domains < most ? domains : most;
    for (uint32_t i = 0; i < shown; i++) {
        struct str name = a->reports[i].name;
        strbuf_append_str(out, i > 0 ? STR(", ") : STR(""));
        strbuf_append_str(out, str_empty(name) ? STR("\"\"") : name);
    }
    if (shown < domains)
        strbuf_appendf(out, " and %u more", domains - shown);
}

/* Returns the reason with the highest count in `allowed`. */
static uint32_t commonest(const struct allowed *allowed) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < 256; i++)
        if (allowed->by_reason[i] > allowed->by_reason[best])
            best = i;
    return best;
}

static bool is_ours(const struct filter_result *result, uint32_t reason) {
    return reason_meaning(result->reason_texts[reason])->ours;
}

/* Appends "6 cordoned, 2 in use": only Evenkeel's reasons (`ours`), or only kube-scheduler's.
 * Returns the number of nodes with such reasons; appends nothing if `out` is NULL. */
static uint32_t say_reasons(const struct filter_result *result, const struct allowed *allowed,
                            bool ours, struct strbuf *out) {
    struct allowed left = *allowed;
    uint32_t nodes = 0, said = 0;
    for (uint32_t r = commonest(&left); left.by_reason[r] > 0; r = commonest(&left)) {
        if (is_ours(result, r) == ours) {
            nodes += left.by_reason[r];
            if (out != NULL && said++ < REASONS_SHOWN)
                strbuf_appendf(out, "%s%u %.*s", said > 1 ? ", " : "", left.by_reason[r],
                               STR_ARG(reason_words(result->reason_texts[r])));
        }
        left.by_reason[r] = 0;
    }
    return nodes;
}

static void say_refused(const struct filter_result *result, const struct allowed *allowed,
                        struct strbuf *out) {
    uint32_t not_offered = say_reasons(result, allowed, false, NULL);
    uint32_t dropped = say_reasons(result, allowed, true, NULL);
    if (not_offered == allowed->nodes)
        strbuf_appendf(out, "; their %u nodes are not offered by kube-scheduler: ", not_offered);
    else if (not_offered > 0)
        strbuf_appendf(out, "; %u of their %u nodes not offered by kube-scheduler: ", not_offered,
                       allowed->nodes);
    (void)say_reasons(result, allowed, false, out); /* the number is known */
    if (dropped > 0)
        strbuf_appendf(out, "; %u of their %u nodes dropped: ", dropped, allowed->nodes);
    (void)say_reasons(result, allowed, true, out); /* the number is known */
    if (allowed->passed > 0)
        strbuf_appendf(out, "; %u of their %u nodes passed", allowed->passed, allowed->nodes);
}

void domains_say(const struct filter_result *result, const struct applied_constraint *applied,
                 struct strbuf *out) {
    struct allowed allowed;
    if (applied->reports == NULL)
        return;
    add_up(applied, &allowed);
    if (allowed.domains == 0) {
        strbuf_appendf(out, "no domain is allowed%s",
                       applied->report_count == 0 ? ": no node has the label" : "");
        return;
    }
    strbuf_append_str(out, STR("allowed: "));
    say_names(applied, allowed.domains, NAMES_SHOWN, out);
    if (allowed.nodes == 0)
        strbuf_append_str(out, STR("; they have no nodes"));
    else
        say_refused(result, &allowed, out);
}

/* Returns the kind of reason that refused all nodes of the allowed domains; "" if there are several
 * kinds. */
static const char *only_kind(const struct filter_result *result, const struct allowed *allowed) {
    const char *kind = NULL;
    for (uint32_t i = 1; i < 256; i++) {
        const char *other =
            allowed->by_reason[i] > 0 ? reason_meaning(result->reason_texts[i])->kind : kind;
        if (kind != NULL && !str_eq(str_of(kind), str_of(other)))
            return "";
        kind = other;
    }
    return kind != NULL ? kind : "";
}

const char *domains_say_only(const struct filter_result *result,
                             const struct applied_constraint *applied, struct strbuf *out) {
    struct allowed allowed;
    add_up(applied, &allowed);
    strbuf_append_str(out, STR("allows only "));
    say_names(applied, allowed.domains, ONLY_SHOWN, out);
    if (allowed.nodes == 0) {
        strbuf_append_str(out, STR(", without nodes"));
        return "";
    }
    strbuf_appendf(out, "; %s %u nodes: ", allowed.domains == 1 ? "its" : "their", allowed.nodes);
    const uint32_t theirs = say_reasons(result, &allowed, false, out);
    if (theirs > 0 && theirs < allowed.nodes)
        strbuf_append_str(out, STR(", "));
    (void)say_reasons(result, &allowed, true, out); /* the number is known */
    return only_kind(result, &allowed);
}

/* ---- the members ---- */

static void put_refused(struct decision *d, const struct filter_result *result,
                        const struct domain_report *domain) {
    json_key(&d->w, STR("refused"));
    json_begin_array(&d->w);
    for (uint32_t i = 0; i < domain->refused_count; i++) {
        json_begin_object(&d->w);
        json_put_member(&d->w, STR("filter"),
                        str_of(result->reason_filters[domain->refused[i].reason]));
        json_put_member(&d->w, STR("reason"), result->reason_texts[domain->refused[i].reason]);
        json_key(&d->w, STR("nodes"));
        json_put_integer(&d->w, domain->refused[i].nodes);
        json_end_object(&d->w);
    }
    json_end_array(&d->w);
}

static void put_flag(struct decision *d, struct str key, bool flag) {
    json_key(&d->w, key);
    json_put_bool(&d->w, flag);
}

static void put_number(struct decision *d, struct str key, int64_t number) {
    json_key(&d->w, key);
    json_put_integer(&d->w, number);
}

static void put_report(struct decision *d, const struct filter_result *result,
                       const struct domain_report *domain) {
    json_begin_object(&d->w);
    json_put_member(&d->w, STR("domain"), domain->name);
    put_number(d, STR("pods"), domain->pods);
    put_flag(d, STR("counted"), domain->counts);
    put_flag(d, STR("allowed"), domain->allowed);
    put_number(d, STR("nodes"), domain->nodes);
    put_number(d, STR("passed"), domain->passed);
    put_refused(d, result, domain);
    json_end_object(&d->w);
}

void decision_put_domains(struct decision *d, const struct filter_result *result,
                          const struct applied_constraint *applied) {
    char bytes[SENTENCE_BYTES];
    struct strbuf sentence = {.p = bytes, .cap = sizeof bytes, .max = sizeof bytes};
    if (applied->reports == NULL)
        return;
    uint32_t shown = applied->report_count < LIMIT_EXPLAINED_DOMAINS ? applied->report_count
                                                                     : LIMIT_EXPLAINED_DOMAINS;
    json_key(&d->w, STR("domainReports"));
    json_begin_array(&d->w);
    for (uint32_t i = 0; i < shown; i++)
        put_report(d, result, &applied->reports[i]);
    json_end_array(&d->w);
    if (shown < applied->report_count)
        put_number(d, STR("domainReportsLeftOut"), applied->report_count - shown);
    domains_say(result, applied, &sentence);
    json_key(&d->w, STR("meaning"));
    json_put_text(&d->w, strbuf_str(&sentence));
}

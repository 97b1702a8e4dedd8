#include "cli/decision_lists.h"

#include "cli/answer_table.h"
#include "explain/reasons.h"

/* ---- constraints ---- */

static const struct answer_column constraint_columns[] = {
    COLUMN("CONSTRAINT OF", "{~from}[ {rule}]"),         COLUMN("TOPOLOGY KEY", "{topologyKey}"),
    COLUMN("WHEN UNSATISFIABLE", "{whenUnsatisfiable}"), NUMBER("MAX SKEW", "{#maxSkew}", "-"),
    NUMBER("MIN DOMAINS", "{#minDomains}", "-"),         NUMBER("DOMAINS", "{#domains}", "-"),
    NUMBER("FEWEST PODS", "{#fewestPods}", "-"),         COLUMN("COUNTS", "{selector}"),
};
static const struct answer_table constraints = {COLUMNS(constraint_columns)};

/* Returns "3 cordoned, 1 Insufficient cpu". */
static struct str cell_refused(const struct value *domain, const void *ctx) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    const struct value *refused = value_as(domain, "refused", JSON_ARRAY);
    (void)ctx;
    for (const struct value *r = refused->first; r != NULL; r = r->next)
        strbuf_appendf(&text, "%s%lld %.*s", r->at > 0 ? ", " : "",
                       (long long)value_count(value_at(r, "nodes")),
                       STR_ARG(reason_words(value_text(value_at(r, "reason")))));
    return arena_str(domain->of->arena, strbuf_str(&text));
}

static const struct answer_column domain_columns[] = {
    COLUMN("", "[{domain}|\"\"]"),           NUMBER("PODS", "[{counted=false}not counted|{0pods}]"),
    COLUMN("ALLOWED", "[{?allowed}yes|no]"), NUMBER("NODES", "{0nodes}"),
    NUMBER("PASSED", "{0passed}"),           CELL("REFUSED", cell_refused, NULL),
};

static const struct value_kind constraint_kinds[] = {{"domainReportsLeftOut", JSON_NUMBER}};
static const struct value_kind domain_kinds[] = {{"counted", JSON_BOOL}, {"allowed", JSON_BOOL}};

/* Appends the domains of each constraint that has domains. */
static void put_domains(const struct value *decision, struct strbuf *out) {
    const struct value *list = value_at(decision, "constraints");
    for (const struct value *c = list->first; c != NULL; c = c->next) {
        CLEANUP(strbuf_done) struct strbuf title = {0};
        if (value_at(c, "domainReports")->kind == JSON_NULL)
            continue;
        VALUE_EXPECT(c, constraint_kinds);
        for (const struct value *d = value_at(c, "domainReports")->first; d != NULL; d = d->next)
            VALUE_EXPECT(d, domain_kinds);
        value_say(c, "DOMAINS OF {~topologyKey}", &title);
        const struct answer_table domains = {COLUMNS(domain_columns),
                                             .title = arena_cstr(c->of->arena, strbuf_str(&title))};
        answer_table_put(&domains, value_as(c, "domainReports", JSON_ARRAY), out);
        value_say(c,
                  "[{?domainReportsLeftOut}and {#domainReportsLeftOut} more domains\n]"
                  "[{meaning}\n]",
                  out);
    }
}

/* Appends "pods by zone: zone-a 4, zone-b 3". */
static void put_counts(const struct value *decision, struct strbuf *out) {
    const struct value *list = value_as(decision, "podsByDomain", JSON_ARRAY);
    for (const struct value *key = list->first; key != NULL; key = key->next) {
        const struct value *pods = value_as(key, "pods", JSON_OBJECT);
        value_say(key, "pods by [{topologyKey}: ]", out);
        for (const struct value *domain = pods->first; domain != NULL; domain = domain->next)
            value_say(domain, domain->at > 0 ? ", [{@}|\"\"] {#}" : "[{@}|\"\"] {#}", out);
        strbuf_append_char(out, '\n');
    }
}

/* ---- verdicts ---- */

static const struct answer_column dropped_columns[] = {
    NUMBER("DROPPED", "{0nodes}"),
    COLUMN("VERDICT", "{verdict}"),
    COLUMN("REASON", "{reason}"),
    COLUMN("NODES", "{;names}"),
};
static const struct answer_table dropped = {COLUMNS(dropped_columns)};

/* ---- the datasets that locality used ---- */

/* Returns a number of bytes as mebibytes; `ctx` is the name of the member with the bytes. */
static struct str cell_mebibytes(const struct value *item, const void *ctx) {
    const struct value *bytes = value_at(item, ctx);
    return bytes->kind == JSON_NULL
               ? STR("")
               : arena_printf(item->of->arena, "%lldMi", (long long)(value_count(bytes) >> 20));
}

/* Returns "a 40960Mi, b". */
static struct str cell_holders(const struct value *dataset, const void *ctx) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    const struct value *holders = value_as(dataset, "heldBy", JSON_ARRAY);
    (void)ctx;
    for (const struct value *h = holders->first; h != NULL; h = h->next) {
        const struct str bytes = cell_mebibytes(h, "bytes");
        strbuf_appendf(&text, "%s%.*s%s%.*s", h->at > 0 ? ", " : "",
                       STR_ARG(value_text(value_at(h, "node"))), bytes.n > 0 ? " " : "",
                       STR_ARG(bytes));
    }
    return arena_str(dataset->of->arena, strbuf_str(&text));
}

static const struct answer_column dataset_columns[] = {
    COLUMN("DATASET", "{dataset}"),
    NUMBER_CELL("SIZE", cell_mebibytes, "size", "not known"),
    NUMBER_CELL("CACHED", cell_mebibytes, "cached", "not known"),
    NUMBER("WEIGHT", "{#percent} %", "-"),
    NUMBER("NODES", "{#nodes}", "-"),
    CELL("THE FIRST HOLD", cell_holders, NULL),
};
static const struct answer_table datasets = {COLUMNS(dataset_columns)};

/* Nodes that hold bytes of a dataset, but the bytes do not count. */
static const struct answer_column leaving_columns[] = {
    COLUMN("LEFT NODE", "{node}"),
    COLUMN("BY DATASET", "{dataset}"),
    COLUMN("BECAUSE", "{reason}"),
};
static const struct answer_table leaving = {COLUMNS(leaving_columns)};

/* ---- scores ---- */

/* Every member that is an object is an algorithm's score, except "inTree": the scores of
 * kube-scheduler's own plugins. "data" has the distance of the node to each dataset, and the reason
 * if the bytes on the node do not count: "; ns-data: zone (raw 250)". */
static struct str cell_scores(const struct value *node, const void *ctx) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    (void)ctx;
    for (const struct value *m = node->first; m != NULL; m = m->next) {
        const bool is_data = m->kind == JSON_ARRAY && str_eq(m->label, STR("data"));
        const struct str more =
            is_data ? value_join(m, "; {~dataset}: {~tier} (raw {0raw})[, {leaving}]", "")
            : m->kind != JSON_OBJECT          ? STR("")
            : str_eq(m->label, STR("inTree")) ? value_join(m, "{@} {#}", ", ")
                                              : value_cell(m, "{@} {0normalized} (raw {0raw})");
        strbuf_append_str(&text, !is_data && text.n > 0 && more.n > 0 ? STR(", ") : STR(""));
        strbuf_append_str(&text, more);
    }
    return arena_str(node->of->arena, strbuf_str(&text));
}

static const struct answer_column score_columns[] = {
    COLUMN("BEST NODES", "{node}"),
    NUMBER("PRIORITY", "{0priority}"),
    CELL("OF 100 BY ALGORITHM", cell_scores, NULL),
};
static const struct answer_column total_columns[] = {
    COLUMN("BEST NODES", "{node}"),
    NUMBER("PRIORITY", "{0priority}"),
    NUMBER("TOTAL", "{#total}", "-"),
    CELL("OF 100 BY ALGORITHM AND PLUGIN", cell_scores, NULL),
};
static const struct answer_table scores = {COLUMNS(score_columns)};
static const struct answer_table totals = {COLUMNS(total_columns)};

/* Only a what-if has the total of each node; the total includes kube-scheduler's own plugins. */
static const struct answer_table *table_of_scores(const struct value *decision) {
    for (const struct value *n = value_at(decision, "scores")->first; n != NULL; n = n->next)
        if (value_at(n, "total")->kind != JSON_NULL)
            return &totals;
    return &scores;
}

/* ---- admission ---- */

static const struct answer_column note_columns[] = {
    COLUMN("PLUGIN", "{plugin}"),
    COLUMN("NOTE", "{note}"),
};
static const struct answer_column warning_columns[] = {COLUMN("WARNINGS", "{}")};
static const struct answer_column patch_columns[] = {
    COLUMN("PATCHED", "{path}"),
    COLUMN("WITH", "[({#valueBytes} bytes, which were not kept)|{value}]"),
};
static const struct answer_table notes = {COLUMNS(note_columns)};
static const struct answer_table warnings = {COLUMNS(warning_columns)};
static const struct answer_table patch = {COLUMNS(patch_columns)};

/* ---- all of them ---- */

void decision_lists_put(const struct value *decision, struct strbuf *out) {
    const struct {
        const char *list;
        const struct answer_table *how;
    } lists[] = {{"dropped", &dropped}, {"datasets", &datasets},
                 {"leaving", &leaving}, {"scores", table_of_scores(decision)},
                 {"notes", &notes},     {"warnings", &warnings},
                 {"patch", &patch}};
    const struct value *edits = value_as(decision, "patch", JSON_ARRAY);
    for (const struct value *edit = edits->first; edit != NULL; edit = edit->next)
        (void)value_count(value_at(edit, "valueBytes")); /* an error stays in the answer */
    answer_table_put(&constraints, value_as(decision, "constraints", JSON_ARRAY), out);
    put_domains(decision, out);
    put_counts(decision, out);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        answer_table_put(lists[i].how, value_as(decision, lists[i].list, JSON_ARRAY), out);
}

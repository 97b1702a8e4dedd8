#include "cli/decision_lists.h"

#include "base/limits.h"
#include "explain/reasons.h"

#include <errno.h>

#define LISTING(rows) .columns = (rows), .count = sizeof(rows) / sizeof(rows)[0]

static struct str keep(struct strbuf *text, struct arena *arena) {
    return arena_str(arena, strbuf_str(text));
}

/* ---- decisions ---- */

static const struct column recent_columns[] = {
    NUMBER("NUMBER", "number", cell_number, "-"), COLUMN("TIME", "time", cell_text, ""),
    COLUMN("VERB", "verb", cell_text, ""),        COLUMN("OBJECT", "object", cell_text, ""),
    COLUMN("NODES", "nodes", cell_text, "-"),     COLUMN("RESULT", "result", cell_text, ""),
    COLUMN("MESSAGE", "message", cell_text, ""),
};
const struct listing recent_listing = {LISTING(recent_columns)};

/* ---- constraints ---- */

static const struct column constraint_columns[] = {
    COLUMN("CONSTRAINT OF", "from", cell_text, ""),
    JOINING("rule", cell_text, COLUMN_AFTER),
    COLUMN("TOPOLOGY KEY", "topologyKey", cell_text, ""),
    COLUMN("WHEN UNSATISFIABLE", "whenUnsatisfiable", cell_text, ""),
    NUMBER("MAX SKEW", "maxSkew", cell_number, "-"),
    NUMBER("MIN DOMAINS", "minDomains", cell_number, "-"),
    NUMBER("DOMAINS", "domains", cell_number, "-"),
    NUMBER("FEWEST PODS", "fewestPods", cell_number, "-"),
    COLUMN("COUNTS", "selector", cell_text, ""),
};
const struct listing constraint_listing = {LISTING(constraint_columns)};

/* ---- the domains of each constraint ---- */

static struct str cell_domain(struct json_reader *r, struct arena *arena) {
    struct str domain = cell_text(r, arena);
    return str_empty(domain) ? STR("\"\"") : domain;
}

static struct str cell_counted(struct json_reader *r, struct arena *arena) {
    (void)arena; /* a constant */
    return json_bool(r) ? STR("") : STR("not counted");
}

/* "3 cordoned, 1 Insufficient cpu" */
static struct str cell_refused(struct json_reader *r, struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf text = {.max = LIMIT_CONFIG_BYTES};
    struct str key;
    if (json_array(r))
        while (json_element(r)) {
            struct str reason = STR("");
            int64_t nodes = 0;
            if (json_object(r))
                while (json_member(r, &key)) {
                    if (str_eq(key, STR("reason")))
                        reason = json_string(r);
                    else if (str_eq(key, STR("nodes")))
                        nodes = json_integer(r, 0, INT64_MAX);
                }
            strbuf_appendf(&text, "%s%lld %.*s", text.n > 0 ? ", " : "", (long long)nodes,
                           STR_ARG(reason_words(reason)));
        }
    return keep(&text, arena);
}

static const struct column domain_columns[] = {
    COLUMN("DOMAINS OF", "domain", cell_domain, "\"\""),
    NUMBER("PODS", "pods", cell_number, "0"),
    JOINING("counted", cell_counted, COLUMN_INSTEAD),
    COLUMN("ALLOWED", "allowed", cell_yes_no, "no"),
    NUMBER("NODES", "nodes", cell_number, "0"),
    NUMBER("PASSED", "passed", cell_number, "0"),
    COLUMN("REFUSED", "refused", cell_refused, ""),
};

struct reported {
    struct str key, meaning, reports;
    int64_t left_out;
};

static void read_reported(struct json_reader *r, struct reported *ret) {
    struct str key;
    *ret = (struct reported){.left_out = 0};
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("topologyKey")))
                ret->key = json_string(r);
            else if (str_eq(key, STR("meaning")))
                ret->meaning = json_string(r);
            else if (str_eq(key, STR("domainReports")))
                ret->reports = json_skip(r);
            else if (str_eq(key, STR("domainReportsLeftOut")))
                ret->left_out = json_integer(r, 0, INT64_MAX);
        }
}

static int print_domains(const struct reported *d, struct arena *arena, struct strbuf *out,
                         struct err *err) {
    CLEANUP(strbuf_done) struct strbuf title = {.max = LIMIT_CONFIG_BYTES};
    strbuf_append_str(&title, STR("DOMAINS OF "));
    table_text(d->key, &title);
    strbuf_append_char(&title, '\0');
    if (strbuf_failed(&title))
        return err_set(err, -ENOMEM, "no memory for the table");
    const struct listing how = {LISTING(domain_columns), .title = title.p};
    int r = listing_print(d->reports, &how, arena, out, err);
    if (d->left_out > 0)
        strbuf_appendf(out, "and %lld more domains\n", (long long)d->left_out);
    table_text(d->meaning, out);
    strbuf_append_str(out, d->meaning.n > 0 ? STR("\n") : STR(""));
    return r;
}

int print_domains_of(struct str constraints, struct arena *arena, struct strbuf *out,
                     struct err *err) {
    struct json_reader r;
    struct reported d;
    int failed = 0;
    if (constraints.n == 0)
        return 0;
    json_reader_init(&r, constraints, arena, "Explanation.decisions");
    if (json_array(&r))
        while (failed == 0 && json_element(&r)) {
            read_reported(&r, &d);
            if (d.reports.n > 0)
                failed = print_domains(&d, arena, out, err);
        }
    return failed == 0 ? json_finish(&r, err) : failed;
}

/* "zone-a 4, zone-b 3" */
static void say_counts(struct json_reader *r, struct strbuf *out) {
    struct str domain;
    const char *between = "";
    if (json_object(r))
        while (json_member(r, &domain)) {
            strbuf_append_str(out, str_of(between));
            table_text(str_empty(domain) ? STR("\"\"") : domain, out);
            strbuf_appendf(out, " %lld", (long long)json_integer(r, INT64_MIN, INT64_MAX));
            between = ", ";
        }
}

int print_counts(struct str list, struct arena *arena, struct strbuf *out, struct err *err) {
    struct json_reader r;
    struct str key;
    if (list.n == 0)
        return 0;
    json_reader_init(&r, list, arena, "Explanation.decisions");
    if (json_array(&r))
        while (json_element(&r)) {
            strbuf_append_str(out, STR("pods by "));
            if (json_object(&r))
                while (json_member(&r, &key)) {
                    if (str_eq(key, STR("topologyKey"))) {
                        table_text(json_string(&r), out);
                        strbuf_append_str(out, STR(": "));
                    } else if (str_eq(key, STR("pods"))) {
                        say_counts(&r, out);
                    }
                }
            strbuf_append_char(out, '\n');
        }
    return json_finish(&r, err);
}

/* ---- verdicts ---- */

static const struct column dropped_columns[] = {
    NUMBER("DROPPED", "nodes", cell_number, "0"),
    COLUMN("VERDICT", "verdict", cell_text, ""),
    COLUMN("REASON", "reason", cell_text, ""),
    COLUMN("NODES", "names", cell_names, ""),
};
const struct listing dropped_listing = {LISTING(dropped_columns)};

static const struct column verdict_columns[] = {
    COLUMN("NODE", "node", cell_text, ""),
    COLUMN("VERDICT", "verdict", cell_text, ""),
    NUMBER("PRIORITY", "priority", cell_number, "-"),
    NUMBER("NORMALIZED", "normalized", cell_number, "-"),
    NUMBER("RAW", "raw", cell_number, "-"),
    NUMBER("TOTAL", "total", cell_number, "-"),
    COLUMN("REASON", "reason", cell_text, ""),
};
const struct listing verdict_listing = {LISTING(verdict_columns)};

static const struct column placed_columns[] = {
    COLUMN("POD", "pod", cell_text, ""),          COLUMN("FROM", "from", cell_text, "-"),
    COLUMN("NODE", "node", cell_text, "Pending"), NUMBER("TOTAL", "total", cell_number, "-"),
    COLUMN("REASON", "reason", cell_text, ""),
};
const struct listing placed_listing = {LISTING(placed_columns)};

static const struct column bar_columns[] = {
    COLUMN("TOPOLOGY KEY", "topologyKey", cell_text, ""),
    COLUMN("DOMAIN", "domain", cell_text, ""),
    NUMBER("BEFORE", "before", cell_number, "-"),
    NUMBER("ADDED", "added", cell_number, "-"),
    COLUMN("PODS", "bar", cell_text, ""),
};
const struct listing bar_listing = {LISTING(bar_columns)};

/* ---- the datasets that locality went by ---- */

/* "a 40960Mi, b" */
static struct str cell_holders(struct json_reader *r, struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf text = {.max = LIMIT_CONFIG_BYTES};
    struct str key;
    if (json_array(r))
        while (json_element(r)) {
            struct str node = STR("");
            int64_t bytes = -1;
            if (json_object(r))
                while (json_member(r, &key)) {
                    if (str_eq(key, STR("node")))
                        node = json_string(r);
                    else if (str_eq(key, STR("bytes")))
                        bytes = json_integer(r, 0, INT64_MAX);
                }
            strbuf_appendf(&text, "%s%.*s", text.n > 0 ? ", " : "", STR_ARG(node));
            if (bytes >= 0)
                strbuf_appendf(&text, " %lldMi", (long long)(bytes >> 20));
        }
    return keep(&text, arena);
}

static const struct column dataset_columns[] = {
    COLUMN("DATASET", "dataset", cell_text, ""),
    NUMBER("SIZE", "size", cell_mebibytes, "not known"),
    NUMBER("CACHED", "cached", cell_mebibytes, "not known"),
    NUMBER("WEIGHT", "percent", cell_percent, "-"),
    NUMBER("NODES", "nodes", cell_number, "-"),
    COLUMN("THE FIRST HOLD", "heldBy", cell_holders, ""),
};
const struct listing dataset_listing = {LISTING(dataset_columns)};

/* Nodes that hold bytes which do not count. */
static const struct column leaving_columns[] = {
    COLUMN("LEFT NODE", "node", cell_text, ""),
    COLUMN("BY DATASET", "dataset", cell_text, ""),
    COLUMN("BECAUSE", "reason", cell_text, ""),
};
const struct listing leaving_listing = {LISTING(leaving_columns)};

/* ---- scores ---- */

static void say_score(struct json_reader *r, struct str algorithm, struct strbuf *out) {
    struct str key;
    int64_t raw = 0, normalized = 0;
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("raw")))
                raw = json_integer(r, INT64_MIN, INT64_MAX);
            else if (str_eq(key, STR("normalized")))
                normalized = json_integer(r, INT64_MIN, INT64_MAX);
        }
    strbuf_appendf(out, "%s%.*s %lld (raw %lld)", out->n > 0 ? ", " : "", STR_ARG(algorithm),
                   (long long)normalized, (long long)raw);
}

/* Those of kube-scheduler's own plugins. */
static void say_in_tree(struct json_reader *r, struct strbuf *out) {
    struct str plugin;
    if (json_object(r))
        while (json_member(r, &plugin)) {
            int64_t score = json_integer(r, INT64_MIN, INT64_MAX);
            strbuf_appendf(out, "%s%.*s %lld", out->n > 0 ? ", " : "", STR_ARG(plugin),
                           (long long)score);
        }
}

/* "; ns-data: zone (raw 250)": the tier at which a node is, and what that gave of the raw score;
 * and why the bytes on the node itself do not count: ", worker 'data-worker-2' is being deleted".
 */
static void say_nearness(struct json_reader *r, struct strbuf *out) {
    struct str key;
    if (json_array(r))
        while (json_element(r)) {
            struct str dataset = STR(""), tier = STR(""), leaving = STR("");
            int64_t raw = 0;
            if (json_object(r))
                while (json_member(r, &key)) {
                    if (str_eq(key, STR("dataset")))
                        dataset = json_string(r);
                    else if (str_eq(key, STR("tier")))
                        tier = json_string(r);
                    else if (str_eq(key, STR("raw")))
                        raw = json_integer(r, INT64_MIN, INT64_MAX);
                    else if (str_eq(key, STR("leaving")))
                        leaving = json_string(r);
                }
            strbuf_appendf(out, "; %.*s: %.*s (raw %lld)%s%.*s", STR_ARG(dataset), STR_ARG(tier),
                           (long long)raw, leaving.n > 0 ? ", " : "", STR_ARG(leaving));
        }
}

/* Every other member that is an object is an algorithm's score. */
static void say_scores(struct str member, struct json_reader *r, struct strbuf *out) {
    enum json_kind kind = json_peek(r);
    if (kind == JSON_OBJECT && str_eq(member, STR("inTree")))
        say_in_tree(r, out);
    else if (kind == JSON_OBJECT)
        say_score(r, member, out);
    else if (kind == JSON_ARRAY && str_eq(member, STR("data")))
        say_nearness(r, out);
}

static const struct column score_columns[] = {
    COLUMN("BEST NODES", "node", cell_text, ""),
    NUMBER("PRIORITY", "priority", cell_number, "0"),
    COLUMN("OF 100 BY ALGORITHM", NULL, NULL, ""),
};
static const struct column total_columns[] = {
    COLUMN("BEST NODES", "node", cell_text, ""),
    NUMBER("PRIORITY", "priority", cell_number, "0"),
    NUMBER("TOTAL", "total", cell_number, "-"),
    COLUMN("OF 100 BY ALGORITHM AND PLUGIN", NULL, NULL, ""),
};
static const struct listing score_listing = {LISTING(score_columns), .others = say_scores};
static const struct listing total_listing = {LISTING(total_columns), .others = say_scores};

const struct listing *listing_of_scores(struct str scores) {
    static const char total[] = "\"total\":";
    bool has = scores.n > 0 && memmem(scores.p, scores.n, total, sizeof total - 1) != NULL;
    return has ? &total_listing : &score_listing;
}

/* ---- admission ---- */

/* A value that did not fit is told by its length. */
static struct str cell_left_out(struct json_reader *r, struct arena *arena) {
    return arena_printf(arena, "(%lld bytes, which were not kept)",
                        (long long)json_integer(r, 0, INT64_MAX));
}

static const struct column note_columns[] = {
    COLUMN("PLUGIN", "plugin", cell_text, ""),
    COLUMN("NOTE", "note", cell_text, ""),
};
static const struct column warning_columns[] = {COLUMN("WARNINGS", NULL, cell_text, "")};
static const struct column patch_columns[] = {
    COLUMN("PATCHED", "path", cell_text, ""),
    COLUMN("WITH", "value", cell_text, ""),
    JOINING("valueBytes", cell_left_out, COLUMN_INSTEAD),
};
const struct listing note_listing = {LISTING(note_columns)};
const struct listing warning_listing = {LISTING(warning_columns)};
const struct listing patch_listing = {LISTING(patch_columns)};

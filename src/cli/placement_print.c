#include "cli/placement_print.h"

#include "base/json_fields.h"
#include "base/table.h"
#include "cli/listing.h"
#include "cli/terminal.h"

#include <errno.h>
#include <stddef.h>

enum { BAR = 30, DOMAINS_SHOWN = 100, WARNINGS_SHOWN = 20, NAMES_SHOWN = 10 };

/* ---- the object ---- */

static void read_spread(struct json_reader *r, struct placement_members *m) {
    m->spread = json_null(r) ? STR("") : json_skip(r);
}

static int read_members(struct str json, struct arena *arena, struct placement_members *m,
                        struct err *err) {
    static const struct {
        struct str name;
        size_t offset;
    } lists[] = {
        {{"available", 9}, offsetof(struct placement_members, available)},
        {{"filter", 6}, offsetof(struct placement_members, filter)},
        {{"prioritizers", 12}, offsetof(struct placement_members, prioritizers)},
        {{"sum", 3}, offsetof(struct placement_members, sum)},
        {{"terms", 5}, offsetof(struct placement_members, terms)},
        {{"domains", 7}, offsetof(struct placement_members, domains)},
        {{"current", 7}, offsetof(struct placement_members, current)},
        {{"selected", 8}, offsetof(struct placement_members, selected)},
        {{"keptReasons", 11}, offsetof(struct placement_members, kept_reasons)},
        {{"groups", 6}, offsetof(struct placement_members, groups)},
        {{"conditions", 10}, offsetof(struct placement_members, conditions)},
        {{"warnings", 8}, offsetof(struct placement_members, warnings)},
        {{"planner", 7}, offsetof(struct placement_members, planner)},
        {{"history", 7}, offsetof(struct placement_members, history)},
    };
    struct json_reader r;
    struct str key;
    *m = (struct placement_members){.requeue_after = -1};
    json_reader_init(&r, json, arena, "answer");
    if (json_object(&r))
        while (json_member(&r, &key)) {
            struct str *into = NULL;
            for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
                if (str_eq(key, lists[i].name))
                    into = (struct str *)((char *)m + lists[i].offset);
            if (into != NULL)
                *into = json_skip(&r);
            else if (str_eq(key, STR("placement")))
                m->placement = json_string(&r);
            else if (str_eq(key, STR("policy")))
                m->policy = json_string(&r);
            else if (str_eq(key, STR("error")))
                m->error = json_string(&r);
            else if (str_eq(key, STR("spreadSatisfied")))
                read_spread(&r, m);
            else if (str_eq(key, STR("celUnknown")))
                m->cel_unknown = json_bool(&r);
            else if (str_eq(key, STR("unscheduled")))
                m->unscheduled = json_integer(&r, 0, INT64_MAX);
            else if (str_eq(key, STR("historyForgotten")))
                m->history_forgotten = json_integer(&r, 0, INT64_MAX);
            else if (str_eq(key, STR("requeueAfterSeconds")) && !json_null(&r))
                m->requeue_after = json_integer(&r, 0, INT64_MAX);
        }
    return json_finish(&r, err);
}

/* ---- lines ---- */

static void print_head(const struct placement_members *m, const struct placement_rows *rows,
                       struct strbuf *out) {
    table_text(m->placement, out);
    strbuf_appendf(out, ": %u selected, %lld unscheduled; %u of %u available clusters pass\n",
                   rows->selected, (long long)m->unscheduled, rows->passed, rows->available);
    if (m->error.n > 0) {
        strbuf_append_str(out, STR("error: "));
        table_text(m->error, out);
        strbuf_append_char(out, '\n');
    }
    if (m->policy.n > 0) {
        strbuf_append_str(out, STR("spread by policy "));
        table_text(m->policy, out);
        strbuf_append_char(out, '\n');
    }
    if (m->cel_unknown)
        strbuf_append_str(out, STR("a predicate has CEL, which is taken as matching\n"));
    if (m->requeue_after >= 0)
        strbuf_appendf(out, "a toleration ends in %lld s\n", (long long)m->requeue_after);
}

static int print_warnings(struct str json, struct arena *arena, struct strbuf *out,
                          struct err *err) {
    struct json_reader r;
    uint32_t count = 0;
    json_reader_init(&r, json.n > 0 ? json : STR("null"), arena, "warnings");
    if (json_array(&r))
        while (json_element(&r)) {
            const struct str text = json_string(&r);
            if (count++ >= WARNINGS_SHOWN)
                continue;
            strbuf_append_str(out, count == 1 ? STR("\nwarning: ") : STR("warning: "));
            table_text(text, out);
            strbuf_append_char(out, '\n');
        }
    if (count > WARNINGS_SHOWN)
        strbuf_appendf(out, "and %u more warnings; -o json has all\n", count - WARNINGS_SHOWN);
    return json_finish(&r, err);
}

/* ---- the planner ---- */

struct planner {
    bool leads;
    struct str mode, result, kept, waits_for;
    int64_t waiting, wait_s; /* wait_s -1: not known */
};

static int read_planner(struct str json, struct arena *arena, struct planner *p, struct err *err) {
    struct json_reader r;
    struct str key;
    *p = (struct planner){.wait_s = -1};
    json_reader_init(&r, json, arena, "planner");
    if (json_object(&r))
        while (json_member(&r, &key)) {
            struct str *into = str_eq(key, STR("mode"))       ? &p->mode
                               : str_eq(key, STR("result"))   ? &p->result
                               : str_eq(key, STR("kept"))     ? &p->kept
                               : str_eq(key, STR("waitsFor")) ? &p->waits_for
                                                              : NULL;
            if (json_null(&r))
                continue;
            if (into != NULL)
                *into = json_string(&r);
            else if (str_eq(key, STR("leads")))
                p->leads = json_bool(&r);
            else if (str_eq(key, STR("movesWaiting")))
                p->waiting = json_integer(&r, 0, INT64_MAX);
            else if (str_eq(key, STR("waitSeconds")))
                p->wait_s = json_integer(&r, 0, INT64_MAX);
        }
    return json_finish(&r, err);
}

static void print_waiting(const struct planner *p, struct strbuf *out) {
    if (p->waiting > 0)
        strbuf_appendf(out, "; %lld move%s wait%s", (long long)p->waiting,
                       p->waiting == 1 ? "" : "s", p->waiting == 1 ? "s" : "");
    else if (p->waits_for.n > 0)
        strbuf_append_str(out, STR("; it waits"));
    if (p->waits_for.n > 0) {
        strbuf_append_str(out, STR(" for "));
        table_text(p->waits_for, out);
    }
    if (p->waits_for.n > 0 && p->wait_s >= 0)
        strbuf_appendf(out, ", %lld s", (long long)p->wait_s);
}

/* "planner: Owner, Decided; 3 moves wait for settleAfter, 7 s" */
static int print_planner(const struct placement_members *m, struct arena *arena, struct strbuf *out,
                         struct err *err) {
    struct planner p;
    if (m->planner.n == 0)
        return 0;
    if (str_eq(m->planner, STR("null"))) {
        strbuf_append_str(out, STR("planner: none here; this replica decides no Placements\n"));
        return 0;
    }
    int r = read_planner(m->planner, arena, &p, err);
    if (r != 0)
        return r;
    strbuf_append_str(out, STR("planner: "));
    if (!p.leads)
        strbuf_append_str(out, STR("this replica does not lead, so it has no history"));
    else if (p.mode.n == 0)
        strbuf_append_str(out, STR("it has not looked at the Placement yet"));
    table_text(p.mode, out);
    if (p.result.n > 0) {
        strbuf_append_str(out, STR(", "));
        table_text(p.result, out);
    }
    if (p.kept.n > 0) {
        strbuf_append_str(out, STR(" ("));
        table_text(p.kept, out);
        strbuf_append_char(out, ')');
    }
    print_waiting(&p, out);
    strbuf_append_char(out, '\n');
    return 0;
}

/* ---- clusters ---- */

static struct str why(const struct placement_row *row, struct arena *arena) {
    if (row->verdict.n == 0)
        return STR("not available: gone, or in no set that is bound");
    if (row->reason.n > 0)
        return row->reason;
    if (!str_eq(row->verdict, STR("Pass")))
        return arena_printf(arena, "does not pass %.*s", STR_ARG(row->verdict));
    return row->scores;
}

static bool print_clusters(const struct placement_rows *rows, struct arena *arena,
                           struct strbuf *out) {
    static const char *const headings[] = {"CLUSTER", "DECISION", "SUM", "WHY"};
    static const struct str moves[] = {[PLACEMENT_STAYS] = {"stays", 5},
                                       [PLACEMENT_KEPT] = {"kept", 4},
                                       [PLACEMENT_ADDED] = {"added", 5},
                                       [PLACEMENT_REMOVED] = {"removed", 7},
                                       [PLACEMENT_LEFT] = {"-", 1}};
    struct table t;
    if (rows->count == 0)
        return true;
    terminal_table_init(&t, headings, 4, arena);
    t.right_aligned = 1 << 2;
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct placement_row *row = &rows->items[i];
        table_cell(&t, row->cluster);
        table_cell(&t, moves[row->move]);
        if (row->has_sum)
            table_number(&t, row->sum);
        else
            table_cell(&t, STR("-"));
        table_cell(&t, why(row, arena));
    }
    strbuf_append_char(out, '\n');
    const bool good = table_render(&t, out);
    if (rows->others > 0)
        strbuf_appendf(out, "and %u more clusters; -o json has all\n", rows->others);
    return good;
}

/* ---- domains ---- */

struct domain {
    struct str name; /* indented by depth */
    int64_t feasible, selected;
};

static struct str indented(struct str name, uint32_t depth, struct arena *arena) {
    return arena_printf(arena, "%*s%.*s", (int)(2 * (depth - 1)), "",
                        STR_ARG(name.n > 0 ? name : STR("\"\"")));
}

static void read_domain(struct json_reader *r, void *into) {
    struct domain *d = into;
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        uint32_t depth = 0;
        if (str_eq(key, STR("path"))) {
            const struct str *path = json_string_array(r, LIMIT_JSON_DEPTH, &depth);
            if (depth > 0)
                d->name = indented(path[depth - 1], depth, r->arena);
        } else if (str_eq(key, STR("feasible"))) {
            d->feasible = json_integer(r, 0, INT64_MAX);
        } else if (str_eq(key, STR("selected"))) {
            d->selected = json_integer(r, 0, INT64_MAX);
        }
    }
}

/* Selected clusters as a bar; the fullest domain has the longest. */
static void bar_cell(struct table *t, int64_t selected, int64_t most) {
    static const char bar[BAR + 1] = "##############################";
    const int64_t length = most == 0 ? 0 : selected >= most ? BAR : selected * BAR / most;
    table_cell(t, (struct str){bar, (size_t)(length == 0 && selected > 0 ? 1 : length)});
}

static int print_domains(struct str json, struct arena *arena, struct strbuf *out,
                         struct err *err) {
    static const char *const headings[] = {"DOMAIN", "SELECTED", "FEASIBLE", ""};
    struct json_reader r;
    struct table t;
    uint32_t count;
    int64_t most = 0;
    json_reader_init(&r, json.n > 0 ? json : STR("null"), arena, "domains");
    const struct domain *domains =
        json_array_of(&r, sizeof *domains, UINT32_MAX, read_domain, &count);
    if (json_finish(&r, err) != 0)
        return err != NULL ? err->code : -EINVAL;
    for (uint32_t i = 0; i < count; i++)
        most = domains[i].selected > most ? domains[i].selected : most;
    if (count == 0)
        return 0;
    terminal_table_init(&t, headings, 4, arena);
    t.right_aligned = 3 << 1;
    for (uint32_t i = 0; i < count && i < DOMAINS_SHOWN; i++) {
        table_cell(&t, domains[i].name);
        table_number(&t, domains[i].selected);
        table_number(&t, domains[i].feasible);
        bar_cell(&t, domains[i].selected, most);
    }
    strbuf_append_char(out, '\n');
    const bool good = table_render(&t, out);
    if (count > DOMAINS_SHOWN)
        strbuf_appendf(out, "and %u more domains; -o json has all\n", count - DOMAINS_SHOWN);
    return good ? 0 : -ENOMEM;
}

/* ---- terms, groups, conditions ---- */

/* "c1, c2 and 98 more" of an array of strings. */
static struct str cell_some_names(struct json_reader *r, struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    uint32_t count = 0;
    if (json_array(r))
        while (json_element(r)) {
            const struct str name = json_string(r);
            if (count++ >= NAMES_SHOWN)
                continue;
            strbuf_append_str(&text, count > 1 ? STR(", ") : STR(""));
            strbuf_append_str(&text, name);
        }
    if (count > NAMES_SHOWN)
        strbuf_appendf(&text, " and %u more", count - NAMES_SHOWN);
    return arena_str(arena, strbuf_str(&text));
}

static const struct column term_columns[] = {
    COLUMN("TERM", "topologyKey", cell_text, ""),
    COLUMN("TYPE", "topologyKeyType", cell_text, ""),
    NUMBER("MAX SKEW", "maxSkew", cell_number, ""),
    NUMBER("MIN DOMAINS", "minDomains", cell_number, ""),
    COLUMN("WHEN UNSATISFIABLE", "whenUnsatisfiable", cell_text, ""),
    NUMBER("SKEW", "skew", cell_number, ""),
};
static const struct column group_columns[] = {
    NUMBER("GROUP", "index", cell_number, ""),
    COLUMN("NAME", "name", cell_text, ""),
    COLUMN("DECISIONS", "decisions", cell_some_names, ""),
    COLUMN("CLUSTERS", "clusters", cell_some_names, ""),
};
static const struct column condition_columns[] = {
    COLUMN("CONDITION", "type", cell_text, "SpreadSatisfied"),
    COLUMN("STATUS", "status", cell_text, ""),
    COLUMN("REASON", "reason", cell_text, ""),
    COLUMN("MESSAGE", "message", cell_text, ""),
};
/* Of {"add":12,"remove":3}: what was not kept of a move. */
static struct str cell_omitted(struct json_reader *r, struct arena *arena) {
    struct str key;
    int64_t added = 0, removed = 0;
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("add")))
                added = json_integer(r, 0, INT64_MAX);
            else if (str_eq(key, STR("remove")))
                removed = json_integer(r, 0, INT64_MAX);
        }
    return arena_printf(arena, "(not kept: %lld added, %lld removed)", (long long)added,
                        (long long)removed);
}

static const struct column history_columns[] = {
    COLUMN("TIME", "time", cell_text, ""),
    COLUMN("REASON", "reason", cell_text, "-"),
    COLUMN("RESULT", "result", cell_text, "-"),
    COLUMN("ADDED", "add", cell_some_names, "-"),
    COLUMN("REMOVED", "remove", cell_some_names, "-"),
    JOINING("omitted", cell_omitted, COLUMN_AFTER),
};
static const struct listing history = {.columns = history_columns, .count = 6};
static const struct listing terms = {.columns = term_columns, .count = 6};
static const struct listing groups = {.columns = group_columns, .count = 4};
static const struct listing conditions = {.columns = condition_columns, .count = 4};

/* OCM's conditions, and the one about spread behind them. */
static struct str all_conditions(const struct placement_members *m, struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    const struct str inner =
        m->conditions.n > 2 ? (struct str){m->conditions.p + 1, m->conditions.n - 2} : STR("");
    strbuf_append_char(&text, '[');
    strbuf_append_str(&text, inner);
    strbuf_append_str(&text, inner.n > 0 && m->spread.n > 0 ? STR(",") : STR(""));
    strbuf_append_str(&text, m->spread);
    strbuf_append_char(&text, ']');
    return arena_str(arena, strbuf_str(&text));
}

/* ---- all of it ---- */

int placement_print(struct str json, struct arena *arena, struct strbuf *out, struct err *err) {
    struct placement_members m;
    struct placement_rows rows;
    struct json_reader reader;
    int r = read_members(json, arena, &m, err);
    if (r != 0)
        return r;
    json_reader_init(&reader, STR("null"), arena, "answer");
    placement_rows_read(&m, arena, &reader, &rows);
    r = json_check(&reader, err);
    if (r != 0)
        return r;
    print_head(&m, &rows, out);
    r = print_planner(&m, arena, out, err);
    if (r != 0)
        return r;
    if (!print_clusters(&rows, arena, out))
        r = err_set(err, -ENOMEM, "no memory for a table of clusters");
    if (r == 0)
        r = print_domains(m.domains, arena, out, err);
    if (r == 0)
        r = listing_print(m.terms, &terms, arena, out, err);
    if (r == 0)
        r = listing_print(m.groups, &groups, arena, out, err);
    if (r == 0)
        r = listing_print(all_conditions(&m, arena), &conditions, arena, out, err);
    if (r == 0)
        r = listing_print(m.history, &history, arena, out, err);
    if (r == 0 && m.history_forgotten > 0)
        strbuf_appendf(out, "and %lld older ones, which are not kept\n",
                       (long long)m.history_forgotten);
    if (r == 0)
        r = print_warnings(m.warnings, arena, out, err);
    return r;
}

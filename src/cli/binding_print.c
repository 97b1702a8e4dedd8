#include "cli/binding_print.h"

#include "base/json_reader.h"
#include "cli/listing.h"
#include "cli/terminal.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

enum { CLUSTERS_SHOWN = 100, GROUPS_SHOWN = 20, NAMES_SHOWN = 10, WARNINGS_SHOWN = 20 };

/* ---- the object ---- */

/* Its members as they stand in it; "" where one is missing. */
struct members {
    struct str binding, trigger, affinity, error_kind, error;                   /* texts */
    struct str filter, scores, available, groups, selected, clusters, warnings; /* JSON */
    bool unproven;
};

static int read_members(struct str json, struct arena *arena, struct members *m, struct err *err) {
    static const struct {
        struct str name;
        size_t offset;
        bool is_text;
    } fields[] = {
        {{"binding", 7}, offsetof(struct members, binding), true},
        {{"trigger", 7}, offsetof(struct members, trigger), true},
        {{"affinity", 8}, offsetof(struct members, affinity), true},
        {{"errorKind", 9}, offsetof(struct members, error_kind), true},
        {{"error", 5}, offsetof(struct members, error), true},
        {{"filter", 6}, offsetof(struct members, filter), false},
        {{"scores", 6}, offsetof(struct members, scores), false},
        {{"available", 9}, offsetof(struct members, available), false},
        {{"groups", 6}, offsetof(struct members, groups), false},
        {{"selected", 8}, offsetof(struct members, selected), false},
        {{"clusters", 8}, offsetof(struct members, clusters), false},
        {{"warnings", 8}, offsetof(struct members, warnings), false},
    };
    struct json_reader r;
    struct str key;
    *m = (struct members){.unproven = false};
    json_reader_init(&r, json, arena, "answer");
    if (json_object(&r))
        while (json_member(&r, &key)) {
            size_t at = 0;
            while (at < sizeof fields / sizeof fields[0] && !str_eq(key, fields[at].name))
                at++;
            if (at == sizeof fields / sizeof fields[0]) {
                if (str_eq(key, STR("proven")))
                    m->unproven = !json_bool(&r);
                continue;
            }
            struct str *into = (struct str *)(void *)((char *)m + fields[at].offset);
            *into = fields[at].is_text ? json_string(&r) : json_skip(&r);
        }
    return json_finish(&r, err);
}

/* ---- clusters ---- */

struct row {
    struct str cluster, verdict, reason;
    bool is_selected, has_replicas, has_score, has_room;
    int64_t replicas, score, allocatable;
};
struct rows {
    struct row *items; /* by name, as they stand in the object */
    uint32_t count, cap;
    uint32_t passed, selected;
};

static void read_filter(struct json_reader *r, struct rows *rows) {
    struct str name, key;
    if (!json_object(r))
        return;
    while (json_member(r, &name)) {
        struct row *items =
            arena_push(r->arena, rows->items, rows->count, &rows->cap, sizeof *items);
        if (items == NULL)
            return; /* the arena says so */
        rows->items = items;
        struct row *row = &items[rows->count++];
        *row = (struct row){.cluster = name};
        if (json_object(r))
            while (json_member(r, &key)) {
                if (str_eq(key, STR("verdict")))
                    row->verdict = json_string(r);
                else if (str_eq(key, STR("reason")))
                    row->reason = json_string(r);
            }
        rows->passed += str_eq(row->verdict, STR("Pass"));
    }
}

static int by_cluster(const void *a, const void *b) {
    return str_cmp(((const struct row *)a)->cluster, ((const struct row *)b)->cluster);
}

static struct row *find_row(const struct rows *rows, struct str cluster) {
    const struct row key = {.cluster = cluster};
    return rows->count == 0
               ? NULL
               : bsearch(&key, rows->items, rows->count, sizeof *rows->items, by_cluster);
}

/* A number of each cluster's object in a map. */
static int64_t number_member(struct json_reader *r, struct str name) {
    struct str key;
    int64_t number = 0;
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, name))
                number = json_integer(r, INT64_MIN, INT64_MAX);
        }
    return number;
}

static void read_scores(struct json_reader *r, struct rows *rows) {
    struct str cluster;
    if (!json_object(r))
        return;
    while (json_member(r, &cluster)) {
        struct row *row = find_row(rows, cluster);
        const int64_t total = number_member(r, STR("total"));
        if (row != NULL) {
            row->has_score = true;
            row->score = total;
        }
    }
}

static void read_available(struct json_reader *r, struct rows *rows) {
    struct str cluster;
    if (!json_object(r))
        return;
    while (json_member(r, &cluster)) {
        struct row *row = find_row(rows, cluster);
        const int64_t room = number_member(r, STR("allocatable"));
        if (row != NULL) {
            row->has_room = true;
            row->allocatable = room;
        }
    }
}

static void read_selected(struct json_reader *r, struct rows *rows) {
    if (!json_array(r))
        return;
    while (json_element(r)) {
        struct row *row = find_row(rows, json_string(r));
        rows->selected++;
        if (row != NULL)
            row->is_selected = true;
    }
}

static void read_clusters(struct json_reader *r, struct rows *rows) {
    struct str key;
    if (!json_array(r))
        return;
    while (json_element(r)) {
        struct str name = {0};
        int64_t replicas = 0;
        if (json_object(r))
            while (json_member(r, &key)) {
                if (str_eq(key, STR("name")))
                    name = json_string(r);
                else if (str_eq(key, STR("replicas")))
                    replicas = json_integer(r, 0, INT64_MAX);
            }
        struct row *row = find_row(rows, name);
        if (row != NULL) {
            row->has_replicas = true;
            row->replicas = replicas;
        }
    }
}

static int read_rows(const struct members *m, struct arena *arena, struct rows *rows,
                     struct err *err) {
    const struct {
        struct str json;
        void (*read)(struct json_reader *r, struct rows *rows);
    } parts[] = {
        {m->filter, read_filter},     {m->scores, read_scores},     {m->available, read_available},
        {m->selected, read_selected}, {m->clusters, read_clusters},
    };
    *rows = (struct rows){.items = NULL};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        struct json_reader r;
        json_reader_init(&r, parts[i].json.n > 0 ? parts[i].json : STR("null"), arena, "answer");
        parts[i].read(&r, rows);
        const int e = json_finish(&r, err);
        if (e != 0)
            return e;
        if (i == 0 && rows->count > 1) /* it is by name, if it is ours */
            qsort(rows->items, rows->count, sizeof *rows->items, by_cluster);
    }
    return 0;
}

/* Those that have replicas, then selected ones, then those that pass, then the others. */
static int place_of(const struct row *row) {
    return row->has_replicas ? 0 : row->is_selected ? 1 : str_eq(row->verdict, STR("Pass")) ? 2 : 3;
}

static void number_or_dash(struct table *t, bool has, int64_t number) {
    if (has)
        table_number(t, number);
    else
        table_cell(t, STR("-"));
}

static void put_row(struct table *t, const struct row *row, struct arena *arena) {
    const bool passes = str_eq(row->verdict, STR("Pass"));
    table_cell(t, row->cluster);
    number_or_dash(t, row->has_replicas, row->replicas);
    number_or_dash(t, row->has_room, row->allocatable);
    number_or_dash(t, row->has_score, row->score);
    if (!passes)
        table_cell(t,
                   arena_printf(arena, "%.*s: %.*s", STR_ARG(row->verdict), STR_ARG(row->reason)));
    else
        table_cell(t, row->is_selected ? STR("selected") : STR("passes the filters"));
}

static bool print_clusters(const struct rows *rows, struct arena *arena, struct strbuf *out) {
    static const char *const headings[] = {"CLUSTER", "REPLICAS", "ROOM", "SCORE", "WHY"};
    struct table t;
    uint32_t shown = 0;
    if (rows->count == 0)
        return true;
    terminal_table_init(&t, headings, 5, arena);
    t.right_aligned = 7 << 1;
    for (int place = 0; place < 4; place++)
        for (uint32_t i = 0; i < rows->count && shown < CLUSTERS_SHOWN; i++)
            if (place_of(&rows->items[i]) == place) {
                put_row(&t, &rows->items[i], arena);
                shown++;
            }
    strbuf_append_char(out, '\n');
    const bool good = table_render(&t, out);
    if (rows->count > shown)
        strbuf_appendf(out, "and %u more clusters; -o json has all\n", rows->count - shown);
    return good;
}

/* ---- groups ---- */

/* "m1, m2 and 98 more" of an array of strings. */
static struct str cell_some(struct json_reader *r, struct arena *arena) {
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

static void put_group(struct json_reader *r, struct table *t, struct str level, bool shown) {
    struct str key, name = {0}, score = {0}, available = {0}, clusters = {0};
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("name")))
                name = json_string(r);
            else if (str_eq(key, STR("score")))
                score = json_number_text(r);
            else if (str_eq(key, STR("available")))
                available = json_number_text(r);
            else if (str_eq(key, STR("clusters")))
                clusters = cell_some(r, r->arena);
        }
    if (!shown)
        return;
    table_cell(t, level);
    table_cell(t, name);
    table_cell(t, score);
    table_cell(t, available);
    table_cell(t, clusters);
}

static int print_groups(struct str json, struct arena *arena, struct strbuf *out, struct err *err) {
    static const char *const headings[] = {"LEVEL", "GROUP", "SCORE", "ROOM", "CLUSTERS"};
    struct json_reader r;
    struct table t;
    struct str level;
    uint32_t shown = 0, others = 0;
    json_reader_init(&r, json.n > 0 ? json : STR("null"), arena, "groups");
    terminal_table_init(&t, headings, 5, arena);
    t.right_aligned = 3 << 2;
    if (json_object(&r))
        while (json_member(&r, &level)) {
            uint32_t of_level = 0;
            if (json_array(&r))
                while (json_element(&r)) {
                    const bool is_shown = of_level++ < GROUPS_SHOWN;
                    put_group(&r, &t, level, is_shown);
                    shown += is_shown;
                    others += !is_shown;
                }
        }
    if (json_finish(&r, err) != 0)
        return err != NULL ? err->code : -EINVAL;
    if (shown == 0)
        return 0;
    strbuf_append_char(out, '\n');
    const bool good = table_render(&t, out);
    if (others > 0)
        strbuf_appendf(out, "and %u more groups; -o json has all\n", others);
    return good ? 0 : -ENOMEM;
}

/* ---- lines ---- */

static void print_head(const struct members *m, const struct rows *rows, struct strbuf *out) {
    table_text(m->binding, out);
    strbuf_appendf(out, ": %u of %u clusters selected; %u pass\n", rows->selected, rows->count,
                   rows->passed);
    strbuf_append_str(out, STR("trigger: "));
    table_text(m->trigger, out);
    if (m->affinity.n > 0) {
        strbuf_append_str(out, STR("; term "));
        table_text(m->affinity, out);
    }
    strbuf_append_char(out, '\n');
    if (m->error.n > 0) {
        table_text(m->error_kind, out);
        strbuf_append_str(out, STR(": "));
        table_text(m->error, out);
        strbuf_append_char(out, '\n');
    }
    if (m->unproven)
        strbuf_append_str(out,
                          STR("the search budget was used up: there may be a better choice\n"));
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
    return json_finish(&r, err);
}

int binding_print(struct str json, struct arena *arena, struct strbuf *out, struct err *err) {
    struct members m;
    struct rows rows;
    int r = read_members(json, arena, &m, err);
    if (r == 0)
        r = read_rows(&m, arena, &rows, err);
    if (r != 0)
        return r;
    print_head(&m, &rows, out);
    if (!print_clusters(&rows, arena, out))
        return err_set(err, -ENOMEM, "no memory for a table");
    r = print_groups(m.groups, arena, out, err);
    return r == 0 ? print_warnings(m.warnings, arena, out, err) : r;
}

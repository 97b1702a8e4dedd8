/* Clusters as rows of a table: the members of the object that say something of a cluster, together.
 */
#include "base/json_reader.h"
#include "cli/placement_print.h"

#include <stdlib.h>

/* A cluster that some member names. */
struct known {
    struct placement_row row;
    uint32_t picked; /* from 1, in the order of picking; 0: it is not selected */
    bool current, kept, shown;
};

struct clusters {
    struct arena *arena;
    struct json_reader *r;
    struct known *items; /* by name */
    uint32_t count, cap;
};

static int by_name(const void *a, const void *b) {
    return str_cmp(((const struct known *)a)->row.cluster, ((const struct known *)b)->row.cluster);
}

static struct known *find(const struct clusters *c, struct str name) {
    const struct known wanted = {.row = {.cluster = name}};
    return c->count == 0 ? NULL : bsearch(&wanted, c->items, c->count, sizeof wanted, by_name);
}

static void begin(struct clusters *c, struct str json, const char *root) {
    if (json_failed(c->r))
        return; /* the first error stays */
    json_reader_init(c->r, json.n > 0 ? json : STR("null"), c->arena, root);
}

static void add(struct clusters *c, struct placement_row row) {
    struct known *items = arena_push(c->arena, c->items, c->count, &c->cap, sizeof *items);
    if (items == NULL)
        return; /* the arena has failed, and is asked in the end */
    c->items = items;
    c->items[c->count++] = (struct known){.row = row};
}

/* ---- reading ---- */

static void read_filter(struct clusters *c, struct str json) {
    struct str cluster, key;
    begin(c, json, "filter");
    if (!json_object(c->r))
        return;
    while (json_member(c->r, &cluster)) {
        struct placement_row row = {.cluster = cluster, .move = PLACEMENT_LEFT};
        if (json_object(c->r))
            while (json_member(c->r, &key)) {
                if (str_eq(key, STR("verdict")))
                    row.verdict = json_string(c->r);
                else if (str_eq(key, STR("reason")))
                    row.reason = json_string(c->r);
            }
        add(c, row);
    }
}

/* Those of a list that no filter has seen: they are decided today, and not available any more. */
static void read_names(struct clusters *c, struct str json, const char *root) {
    begin(c, json, root);
    if (!json_array(c->r))
        return;
    const uint32_t sorted = c->count;
    while (json_element(c->r)) {
        const struct clusters before = {.items = c->items, .count = sorted};
        const struct str name = json_string(c->r);
        if (find(&before, name) == NULL)
            add(c, (struct placement_row){.cluster = name, .move = PLACEMENT_LEFT});
    }
    if (c->count > 0)
        qsort(c->items, c->count, sizeof *c->items, by_name);
}

static void mark(struct clusters *c, struct str json, const char *root, bool selected) {
    uint32_t place = 0;
    begin(c, json, root);
    if (!json_array(c->r))
        return;
    while (json_element(c->r)) {
        struct known *known = find(c, json_string(c->r));
        place++;
        if (known == NULL)
            continue;
        known->picked = selected ? place : known->picked;
        known->current = known->current || !selected;
    }
}

static void read_kept(struct clusters *c, struct str json) {
    struct str cluster;
    begin(c, json, "keptReasons");
    if (!json_object(c->r))
        return;
    while (json_member(c->r, &cluster)) {
        const struct str reason = json_string(c->r);
        struct known *known = find(c, cluster);
        if (known != NULL) {
            known->kept = true;
            known->row.reason = reason;
        }
    }
}

static void read_sums(struct clusters *c, struct str json) {
    struct str cluster;
    begin(c, json, "sum");
    if (!json_object(c->r))
        return;
    while (json_member(c->r, &cluster)) {
        const int64_t sum = json_integer(c->r, INT64_MIN, INT64_MAX);
        struct known *known = find(c, cluster);
        if (known != NULL) {
            known->row.has_sum = true;
            known->row.sum = sum;
        }
    }
}

static void add_score(struct clusters *c, struct known *known, struct str name, int64_t weight,
                      int64_t score) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    strbuf_append_str(&text, known->row.scores);
    strbuf_append_str(&text, text.n > 0 ? STR(", ") : STR(""));
    strbuf_append_str(&text, name);
    strbuf_appendf(&text, " %lld", (long long)score);
    if (weight != 1)
        strbuf_appendf(&text, " x%lld", (long long)weight);
    known->row.scores = arena_str(c->arena, strbuf_str(&text));
}

/* Scores of the clusters that are shown. */
static void read_scores(struct clusters *c, struct str name, int64_t weight) {
    struct str cluster;
    if (!json_object(c->r))
        return;
    while (json_member(c->r, &cluster)) {
        const int64_t score = json_integer(c->r, INT64_MIN, INT64_MAX);
        struct known *known = find(c, cluster);
        if (known != NULL && known->shown)
            add_score(c, known, name, weight, score);
    }
}

static void read_prioritizers(struct clusters *c, struct str json) {
    struct str key;
    begin(c, json, "prioritizers");
    if (!json_array(c->r))
        return;
    while (json_element(c->r)) {
        struct str name = {0};
        int64_t weight = 1;
        if (!json_object(c->r))
            continue;
        while (json_member(c->r, &key)) { /* name and weight come first */
            if (str_eq(key, STR("name")))
                name = json_string(c->r);
            else if (str_eq(key, STR("weight")))
                weight = json_integer(c->r, INT64_MIN, INT64_MAX);
            else if (str_eq(key, STR("scores")))
                read_scores(c, name, weight);
        }
    }
}

/* ---- which are shown ---- */

static uint32_t rank(const struct known *known) {
    return known->picked != 0 ? 0 : known->current ? 1 : 2;
}

static int by_interest(const void *a, const void *b) {
    const struct known *left = *(struct known *const *)a, *right = *(struct known *const *)b;
    if (rank(left) != rank(right))
        return rank(left) < rank(right) ? -1 : 1;
    if (left->picked != right->picked)
        return left->picked < right->picked ? -1 : 1;
    return str_cmp(left->row.cluster, right->row.cluster);
}

/* The most interesting ones first; NULL: no memory. */
static struct known **choose(struct clusters *c, struct placement_rows *ret) {
    struct known **order = arena_array(c->arena, c->count, sizeof *order);
    for (uint32_t i = 0; order != NULL && i < c->count; i++) {
        struct known *known = &c->items[i];
        order[i] = known;
        known->row.move = known->kept                            ? PLACEMENT_KEPT
                          : known->picked != 0 && known->current ? PLACEMENT_STAYS
                          : known->picked != 0                   ? PLACEMENT_ADDED
                          : known->current                       ? PLACEMENT_REMOVED
                                                                 : PLACEMENT_LEFT;
        ret->selected += known->picked != 0;
        ret->passed += str_eq(known->row.verdict, STR("Pass"));
        ret->available += known->row.verdict.n > 0;
    }
    if (order != NULL && c->count > 0)
        qsort(order, c->count, sizeof *order, by_interest);
    return order;
}

void placement_rows_read(const struct placement_members *m, struct arena *arena,
                         struct json_reader *r, struct placement_rows *ret) {
    struct clusters c = {.arena = arena, .r = r};
    *ret = (struct placement_rows){0};
    read_filter(&c, m->filter);
    read_names(&c, m->current, "current");
    mark(&c, m->current, "current", false);
    mark(&c, m->selected, "selected", true);
    read_kept(&c, m->kept_reasons);
    read_sums(&c, m->sum);
    struct known **order = choose(&c, ret);
    ret->items = arena_array(arena, PLACEMENT_ROWS, sizeof *ret->items);
    if (order == NULL || ret->items == NULL)
        return; /* the arena has failed */
    ret->count = c.count < PLACEMENT_ROWS ? c.count : PLACEMENT_ROWS;
    ret->others = c.count - ret->count;
    for (uint32_t i = 0; i < ret->count; i++)
        order[i]->shown = true;
    read_prioritizers(&c, m->prioritizers);
    for (uint32_t i = 0; i < ret->count; i++)
        ret->items[i] = order[i]->row;
}

#include "cli/binding_print.h"

#include "cli/answer_table.h"

enum { CLUSTERS_SHOWN = 100, GROUPS_SHOWN = 20, WARNINGS_SHOWN = 20 };

/* ---- clusters ---- */

static const struct answer_column cluster_columns[] = {
    COLUMN("CLUSTER", "{@}"),
    NUMBER("REPLICAS", "{#^clusters.@.replicas}", "-"),
    NUMBER("ROOM", "{#^available.@.allocatable}", "-"),
    NUMBER("SCORE", "{#^scores.@.total}", "-"),
    COLUMN("WHY", "[{verdict=Pass}{?^selected.@}selected|{verdict=Pass}passes the filters|"
                  "{~verdict}: {~reason}]"),
};
static const struct answer_table clusters = {COLUMNS(cluster_columns), .most = CLUSTERS_SHOWN,
                                             .more = " clusters"};

static bool passes(const struct value *cluster) {
    return str_eq(value_text(value_at(cluster, "verdict")), STR("Pass"));
}

/* Sorts clusters with replicas first, then selected clusters, feasible clusters, and the other
 * clusters. */
static int place_of(const struct value *cluster) {
    return value_holds(value_at(cluster, "^clusters.@"))   ? 0
           : value_holds(value_at(cluster, "^selected.@")) ? 1
           : passes(cluster)                               ? 2
                                                           : 3;
}

static int by_place(const void *a, const void *b) {
    const struct value *x = *(const struct value *const *)a, *y = *(const struct value *const *)b;
    const int order = place_of(x) - place_of(y);
    return order != 0 ? order : str_cmp(x->label, y->label);
}

static void put_clusters(const struct value *root, struct strbuf *out) {
    const struct value *filter = value_as(root, "filter", JSON_OBJECT);
    const struct value **items = answer_items(filter, 0, by_place);
    if (items != NULL)
        answer_table_put_items(&clusters, root->of, items, filter->count, out);
}

/* ---- groups ---- */

static const struct answer_column group_columns[] = {
    COLUMN("LEVEL", "{<@}"),        COLUMN("GROUP", "{name}"),         NUMBER("SCORE", "{#score}"),
    NUMBER("ROOM", "{#available}"), COLUMN("CLUSTERS", "{,clusters}"),
};
static const struct answer_table groups = {COLUMNS(group_columns)};

/* Appends the first GROUPS_SHOWN groups of each level. */
static void put_groups(const struct value *root, struct strbuf *out) {
    const struct value *levels = value_as(root, "groups", JSON_OBJECT);
    const struct value **items = NULL;
    uint32_t count = 0, cap = 0, others = 0;
    for (const struct value *level = levels->first; level != NULL; level = level->next)
        for (const struct value *group = value_as(level, "", JSON_ARRAY)->first; group != NULL;
             group = group->next) {
            if (group->at >= GROUPS_SHOWN)
                others++;
            else if ((items = arena_push(root->of->arena, items, count, &cap, sizeof *items)))
                items[count++] = group;
            else
                return; /* the error stays in the arena */
        }
    answer_table_put_items(&groups, root->of, items, count, out);
    if (others > 0)
        strbuf_appendf(out, "and %u more groups; -o json has all\n", others);
}

/* ---- all of it ---- */

static const struct value_kind kinds[] = {
    {"proven", JSON_BOOL}, {"scores", JSON_OBJECT}, {"available", JSON_OBJECT}};

static void print_one(const struct value *root, struct strbuf *out) {
    const struct value *filter = value_as(root, "filter", JSON_OBJECT);
    const struct value *warnings = value_as(root, "warnings", JSON_ARRAY);
    uint32_t passed = 0;
    VALUE_EXPECT(root, kinds);
    for (const struct value *cluster = filter->first; cluster != NULL; cluster = cluster->next)
        passed += passes(cluster);
    value_say(root, "{~binding}: {+selected} of {+filter} clusters selected; ", out);
    strbuf_appendf(out, "%u pass\n", passed);
    value_say(root,
              "trigger: {~trigger}[; term {affinity}]\n[{~errorKind}: {error}\n]"
              "[{proven=false}the search budget was used up: there may be a better choice\n]",
              out);
    put_clusters(root, out);
    put_groups(root, out);
    strbuf_append_str(out, warnings->count > 0 ? STR("\n") : STR(""));
    value_say_each(warnings, "warning: {}\n", WARNINGS_SHOWN, out);
}

void binding_print(const struct value *root, struct strbuf *out) {
    if (value_at(root, "filter")->kind == JSON_NULL && value_at(root, "binding")->kind == JSON_NULL)
        strbuf_append_str(out, STR("Karmada makes no binding of the policy and the workload\n"));
    else
        print_one(root, out);
}

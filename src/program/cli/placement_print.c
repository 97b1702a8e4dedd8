#include "cli/placement_print.h"

#include "cli/answer_table.h"

#include <stdlib.h>

enum { BAR = 30, CLUSTERS_SHOWN = 100, DOMAINS_SHOWN = 100, WARNINGS_SHOWN = 20 };

/* ---- clusters ---- */

/* Returns "Balance 100, Steady 0 x3". */
static struct str scores_of(const struct value *cluster) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    const struct value *list = value_as(cluster, "^prioritizers", JSON_ARRAY);
    for (const struct value *p = list->first; p != NULL; p = p->next) {
        const struct value *score =
            value_member(value_as(p, "scores", JSON_OBJECT), cluster->label);
        if (score->kind == JSON_NULL)
            continue;
        strbuf_append_str(&text, text.n > 0 ? STR(", ") : STR(""));
        strbuf_append_str(&text, value_cell(p, "{~name} "));
        strbuf_append_str(&text, value_cell(score, "{#}"));
        strbuf_append_str(&text, value_cell(p, "[{weight=1}| x{#weight}]"));
    }
    return arena_str(cluster->of->arena, strbuf_str(&text));
}

/* Returns why the cluster is not selected. A value that is only a name is a cluster that no filter
 * has judged. */
static struct str cell_why(const struct value *cluster, const void *ctx) {
    (void)ctx;
    if (cluster->kind == JSON_STRING)
        return STR("not available: gone, or in no set that is bound");
    const struct str why =
        value_cell(cluster, "[{^keptReasons.@}|{reason}|{verdict=Pass}|does not pass {verdict}]");
    return why.n > 0 ? why : scores_of(cluster);
}

static const struct answer_column cluster_columns[] = {
    COLUMN("CLUSTER", "{@}"),
    COLUMN("DECISION", "[{?^keptReasons.@}kept|{?^selected.@}{?^current.@}stays|"
                       "{?^selected.@}added|{?^current.@}removed|-]"),
    NUMBER("SUM", "{#^sum.@}", "-"),
    CELL("WHY", cell_why, NULL),
};
static const struct answer_table clusters = {COLUMNS(cluster_columns), .most = CLUSTERS_SHOWN,
                                             .more = " clusters"};

static int rank(const struct value *cluster) {
    return value_holds(value_at(cluster, "^selected.@"))  ? 0
           : value_holds(value_at(cluster, "^current.@")) ? 1
                                                          : 2;
}

/* Sorts selected clusters first, in the order of picking, then removed clusters, then other
 * clusters by name. */
static int by_interest(const void *a, const void *b) {
    const struct value *x = *(const struct value *const *)a, *y = *(const struct value *const *)b;
    const int order = rank(x) - rank(y);
    if (order != 0 || rank(x) > 0)
        return order != 0 ? order : str_cmp(x->label, y->label);
    const uint32_t left = value_at(x, "^selected.@")->at, right = value_at(y, "^selected.@")->at;
    return (left > right) - (left < right);
}

/* The clusters of a Placement, and the numbers of selected and of feasible clusters. */
struct counted {
    const struct value **items;
    uint32_t count, selected, passed;
};

/* Reads all filtered clusters, and the clusters of the current decision that do not exist any
 * more. */
static void read_clusters(const struct value *root, struct counted *ret) {
    const struct value *filter = value_as(root, "filter", JSON_OBJECT);
    const struct value *current = value_as(root, "current", JSON_ARRAY);
    *ret = (struct counted){.items = answer_items(filter, current->count, NULL)};
    if (ret->items == NULL)
        return; /* the error stays in the arena */
    ret->count = filter->count;
    for (const struct value *name = current->first; name != NULL; name = name->next)
        if (value_at(name, "^filter.@")->kind == JSON_NULL)
            ret->items[ret->count++] = name;
    for (uint32_t i = 0; i < ret->count; i++) {
        ret->selected += rank(ret->items[i]) == 0;
        ret->passed += i < filter->count &&
                       str_eq(value_text(value_at(ret->items[i], "verdict")), STR("Pass"));
    }
    if (ret->count > 1)
        qsort(ret->items, ret->count, sizeof *ret->items, by_interest);
}

/* ---- domains ---- */

/* Returns the last name of the path, indented by depth. */
static struct str cell_domain(const struct value *domain, const void *ctx) {
    const struct value *path = value_as(domain, "path", JSON_ARRAY);
    (void)ctx;
    if (path->count == 0)
        return STR("");
    return arena_printf(domain->of->arena, "%*s%.*s", (int)(2 * (path->count - 1)), "",
                        STR_ARG(value_cell(path->last, "[{}|\"\"]")));
}

/* Draws selected clusters as a bar; *ctx is the number in the fullest domain. */
static struct str cell_bar(const struct value *domain, const void *ctx) {
    static const char bar[BAR + 1] = "##############################";
    const int64_t selected = value_count(value_at(domain, "selected")),
                  most = *(const int64_t *)ctx;
    const size_t length = selected < most ? (size_t)((double)selected / (double)most * BAR)
                                          : (selected > 0 ? BAR : 0);
    return (struct str){bar, length == 0 && selected > 0 ? 1 : length};
}

static void put_domains(const struct value *root, struct strbuf *out) {
    int64_t most = 0;
    const struct answer_column columns[] = {
        CELL("DOMAIN", cell_domain, NULL),
        NUMBER("SELECTED", "{#selected}", "0"),
        NUMBER("FEASIBLE", "{#feasible}", "0"),
        CELL("", cell_bar, &most),
    };
    const struct answer_table table = {COLUMNS(columns), .most = DOMAINS_SHOWN, .more = " domains"};
    const struct value *domains = value_as(root, "domains", JSON_ARRAY);
    for (const struct value *domain = domains->first; domain != NULL; domain = domain->next) {
        static const struct value_kind kinds[] = {{"feasible", JSON_NUMBER}};
        const int64_t selected = value_count(value_at(domain, "selected"));
        VALUE_EXPECT(domain, kinds);
        most = selected > most ? selected : most;
    }
    answer_table_put(&table, domains, out);
}

/* ---- the other tables ---- */

static const struct answer_column term_columns[] = {
    COLUMN("TERM", "{topologyKey}"),
    COLUMN("TYPE", "{topologyKeyType}"),
    NUMBER("MAX SKEW", "{#maxSkew}"),
    NUMBER("MIN DOMAINS", "{#minDomains}"),
    COLUMN("WHEN UNSATISFIABLE", "{whenUnsatisfiable}"),
    NUMBER("SKEW", "{#skew}"),
};
static const struct answer_column group_columns[] = {
    NUMBER("GROUP", "{#index}"),
    COLUMN("NAME", "{name}"),
    COLUMN("DECISIONS", "{,decisions}"),
    COLUMN("CLUSTERS", "{,clusters}"),
};
static const struct answer_column condition_columns[] = {
    COLUMN("CONDITION", "{type}", "SpreadSatisfied"),
    COLUMN("STATUS", "{status}"),
    COLUMN("REASON", "{reason}"),
    COLUMN("MESSAGE", "{message}"),
};
static const struct answer_column history_columns[] = {
    COLUMN("TIME", "{time}"),
    COLUMN("REASON", "{reason}", "-"),
    COLUMN("RESULT", "{result}", "-"),
    COLUMN("ADDED", "[{,add}|-]"),
    COLUMN("REMOVED", "[{,remove}|-][{?omitted} (not kept: {0omitted.add} added, "
                      "{0omitted.remove} removed)]"),
};
static const struct answer_table history = {COLUMNS(history_columns)};
static const struct answer_table terms = {COLUMNS(term_columns)};
static const struct answer_table groups = {COLUMNS(group_columns)};
static const struct answer_table conditions = {COLUMNS(condition_columns)};

/* Appends OCM's conditions, and after them the condition about spread. */
static void put_conditions(const struct value *root, struct strbuf *out) {
    const struct value *list = value_as(root, "conditions", JSON_ARRAY);
    const struct value *spread = value_as(root, "spreadSatisfied", JSON_OBJECT);
    const struct value **items = answer_items(list, 1, NULL);
    if (items == NULL)
        return; /* the error stays in the arena */
    items[list->count] = spread;
    answer_table_put_items(&conditions, root->of, items,
                           list->count + (spread->kind == JSON_OBJECT), out);
}

/* ---- all of it ---- */

static void put_planner(const struct value *planner, struct strbuf *out) {
    if (planner == &planner->of->missing)
        return; /* no daemon was asked */
    if (planner->kind == JSON_NULL)
        strbuf_append_str(out, STR("planner: none here; this replica decides no Placements\n"));
    else
        value_say(planner,
                  "planner: [{!leads}this replica does not lead, so it has no history|"
                  "{!mode}it has not looked at the Placement yet]{~mode}[, {result}][ ({kept})]"
                  "[{movesWaiting=1}; 1 move waits|{?movesWaiting}; {#movesWaiting} moves wait|"
                  "{?waitsFor}; it waits][ for {waitsFor}][{?waitsFor}, {#waitSeconds} s]\n",
                  out);
}

/* Members that are only looked up, or only tested by value_holds(). */
static const struct value_kind kinds[] = {
    {"sum", JSON_OBJECT},
    {"keptReasons", JSON_OBJECT},
    {"selected", JSON_ARRAY},
    {"prioritizers", JSON_ARRAY},
    {"celUnknown", JSON_BOOL},
    {"unscheduled", JSON_NUMBER},
    {"historyForgotten", JSON_NUMBER},
    {"requeueAfterSeconds", JSON_NUMBER},
};
static const struct value_kind planner_kinds[] = {
    {"leads", JSON_BOOL}, {"movesWaiting", JSON_NUMBER}, {"waitSeconds", JSON_NUMBER}};
static const struct value_kind omitted_kinds[] = {{"omitted.add", JSON_NUMBER},
                                                  {"omitted.remove", JSON_NUMBER}};

static void check_kinds(const struct value *root) {
    const struct value *sums = value_at(root, "sum"), *moves = value_at(root, "history");
    VALUE_EXPECT(root, kinds);
    VALUE_EXPECT(value_at(root, "planner"), planner_kinds);
    for (const struct value *sum = sums->first; sum != NULL; sum = sum->next)
        (void)value_number(sum); /* an error is kept in the answer */
    for (const struct value *move = moves->first; move != NULL; move = move->next)
        VALUE_EXPECT(move, omitted_kinds);
}

void placement_print(const struct value *root, struct strbuf *out) {
    const struct value *warnings = value_as(root, "warnings", JSON_ARRAY);
    struct counted counted;
    check_kinds(root);
    read_clusters(root, &counted);
    value_say(root, "{~placement}: ", out);
    strbuf_appendf(out, "%u selected, ", counted.selected);
    value_say(root, "{0unscheduled} unscheduled; ", out);
    strbuf_appendf(out, "%u", counted.passed);
    value_say(root,
              " of {+filter} available clusters pass\n"
              "[error: {error}\n]"
              "[spread by policy {policy}\n]"
              "[{?celUnknown}a predicate has CEL, which is taken as matching\n]"
              "[a toleration ends in {#requeueAfterSeconds} s\n]",
              out);
    put_planner(value_as(root, "planner", JSON_OBJECT), out);
    answer_table_put_items(&clusters, root->of, counted.items, counted.count, out);
    put_domains(root, out);
    answer_table_put(&terms, value_as(root, "terms", JSON_ARRAY), out);
    answer_table_put(&groups, value_as(root, "groups", JSON_ARRAY), out);
    put_conditions(root, out);
    answer_table_put(&history, value_as(root, "history", JSON_ARRAY), out);
    value_say(root, "[{?historyForgotten}and {#historyForgotten} older ones, which are not kept\n]",
              out);
    strbuf_append_str(out, warnings->count > 0 ? STR("\n") : STR(""));
    value_say_each(warnings, "warning: {}\n", WARNINGS_SHOWN, out);
    if (warnings->count > WARNINGS_SHOWN)
        strbuf_appendf(out, "and %u more warnings; -o json has all\n",
                       warnings->count - WARNINGS_SHOWN);
}

/* Workloads and their domains for people. */
#include "cli/answer_table.h"
#include "cli/workloads_internal.h"

#include <math.h>

/* Limits of the text for people; -o json has all. */
enum { BAR = 40, NAME_SHOWN = 80, DOMAINS_SHOWN = 50, WORKLOADS_SHOWN = 1000 };

/* ---- bars ---- */

/* Returns the largest number that an item has at the path `pods`. */
static int64_t most_of(const struct value *list, const char *pods) {
    int64_t most = 0;
    for (const struct value *item = list->first; item != NULL; item = item->next) {
        const int64_t number = value_number(value_at(item, pods));
        most = number > most ? number : most;
    }
    return most;
}

static struct str bar_of(const struct value *pods, int64_t most) {
    static const char bar[] = "########################################";
    const double share = most == 0 ? 0 : (double)value_count(pods) / (double)most;
    return (struct str){bar, (size_t)ceil(share * BAR)};
}

static struct str cell_bar(const struct value *domain, const void *ctx) {
    return bar_of(value_at(domain, "pods"), *(const int64_t *)ctx);
}

/* ---- all workloads ---- */

static void put_domains(const struct value *root, struct strbuf *out) {
    const struct value *domains = value_as(root, "domains", JSON_ARRAY);
    const int64_t most = most_of(domains, "pods");
    struct answer_column columns[6] = {COLUMN("DOMAIN", "[{name}|\"\"]"),
                                       NUMBER("NODES", "{#nodes}")};
    uint32_t count = 2;
    if (most_of(domains, "cordoned") > 0)
        columns[count++] = (struct answer_column)NUMBER("CORDONED", "{#cordoned}", "0");
    if (most_of(domains, "tainted") > 0)
        columns[count++] = (struct answer_column)NUMBER("TAINTED", "{#tainted}", "0");
    columns[count++] = (struct answer_column)NUMBER("PODS", "{#pods}");
    columns[count++] = (struct answer_column)CELL("", cell_bar, &most);
    const struct answer_table table = {.columns = columns,
                                       .count = count,
                                       .is_first = true,
                                       .widest = NAME_SHOWN,
                                       .most = DOMAINS_SHOWN,
                                       .more = ""};
    answer_table_put(&table, domains, out);
    value_say(root,
              "[{#withoutKey.nodes} nodes have no {~topologyKey}; pods there: {#withoutKey.pods}\n]"
              "[{#onUnknownNodes} pods are on nodes that are gone or not known, in no domain\n]",
              out);
}

/* In a state that is read here, no domain counts as feasible for a workload in state "unknown": it
 * is not known where its pods may run. */
static bool is_feasible(const struct value *domain) {
    const struct workloads_request *q = domain->of->ctx;
    const bool unknown = str_eq(value_text(value_at(domain, "<<state")), STR("unknown"));
    return value_at(domain, "<<elsewhere.@")->kind == JSON_NULL &&
           !(unknown && q->configuration != NULL);
}

/* Returns "zone-a 5  zone-b 4  zone-c 0!". */
static struct str cell_domains(const struct value *workload, const void *ctx) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    const struct value *domains = value_as(workload, "domains", JSON_OBJECT);
    (void)ctx;
    for (const struct value *d = domains->first; d != NULL && d->at < DOMAINS_SHOWN; d = d->next) {
        strbuf_append_str(&text, d->at > 0 ? STR("  ") : STR(""));
        strbuf_append_str(&text, value_cell(d, "[{@}|\"\"] {#}"));
        strbuf_append_str(&text, is_feasible(d) ? STR("") : STR("!"));
    }
    if (domains->count > DOMAINS_SHOWN)
        strbuf_appendf(&text, "  and %u more", domains->count - DOMAINS_SHOWN);
    return arena_str(workload->of->arena, strbuf_str(&text));
}

static void put_workloads(const struct value *workloads, struct strbuf *out) {
    struct answer_column columns[10] = {
        COLUMN("NAMESPACE", "{namespace}"), COLUMN("NAME", "{name}"),
        COLUMN("KIND", "{~kind}[.{apiGroup}]"), NUMBER("PODS", "{#pods}")};
    uint32_t count = 4;
    if (most_of(workloads, "pending") > 0)
        columns[count++] = (struct answer_column)NUMBER("PENDING", "{#pending}", "0");
    if (most_of(workloads, "onUnknownNodes") > 0)
        columns[count++] = (struct answer_column)NUMBER("LOST", "{#onUnknownNodes}", "0");
    columns[count++] = (struct answer_column)NUMBER("SKEW", "{#skew}", "-");
    columns[count++] = (struct answer_column)NUMBER("BEST", "{#bestSkew}", "-");
    columns[count++] = (struct answer_column)COLUMN("STATE", "{state}");
    columns[count++] = (struct answer_column)CELL("DOMAINS", cell_domains, NULL);
    const struct answer_table table = {.columns = columns,
                                       .count = count,
                                       .is_first = true,
                                       .most = WORKLOADS_SHOWN,
                                       .more = "",
                                       .width = 160,
                                       .narrowest = 40,
                                       .widest = NAME_SHOWN};
    answer_table_put(&table, workloads, out);
}

/* Prints the age of the state files, in the largest unit of which it has at least two. */
static void put_state_age(const struct workloads_request *q, struct strbuf *out) {
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = {{"days", 86400000}, {"hours", 3600000}, {"minutes", 60000}, {"seconds", 1000}};
    size_t i = 0;
    while (i < 3 && q->state_age_ms < 2 * units[i].ms)
        i++;
    strbuf_appendf(out, "; %s is %lld %s old", q->state_file,
                   (long long)(q->state_age_ms / units[i].ms), units[i].name);
}

void workloads_print_all(const struct value *root, struct strbuf *out) {
    const struct value *workloads = value_as(root, "workloads", JSON_ARRAY);
    const struct workloads_request *q = root->of->ctx;
    uint32_t totals[EVENNESS_STATES] = {0};
    for (const struct value *w = workloads->first; w != NULL; w = w->next)
        for (int state = 0; state < EVENNESS_STATES; state++)
            totals[state] +=
                str_eq(value_at(w, "state")->text, str_of(evenness_state_names[state]));
    value_say(root, "{~topologyKey}: {+domains} domains; {+workloads} workloads: ", out);
    strbuf_appendf(out, "%u even, %u unavoidable, %u uneven", totals[EVENNESS_EVEN],
                   totals[EVENNESS_UNAVOIDABLE], totals[EVENNESS_UNEVEN]);
    if (totals[EVENNESS_UNKNOWN] > 0)
        strbuf_appendf(out, ", %u unknown", totals[EVENNESS_UNKNOWN]);
    value_say(root, "[; {#pending} pods Pending][; data {#dataAgeMilliseconds} ms old]", out);
    if (q->state_age_ms > 0)
        put_state_age(q, out);
    strbuf_append_str(out, STR("\n\n"));
    put_domains(root, out);
    strbuf_append_char(out, '\n');
    put_workloads(workloads, out);
}

/* ---- one by one ---- */

static struct str cell_domain_bar(const struct value *pods, const void *ctx) {
    return is_feasible(pods) ? bar_of(pods, *(const int64_t *)ctx)
                             : STR("! no feasible node: does not count");
}

static void put_workload(const struct value *workload, struct strbuf *out) {
    const struct value *domains = value_as(workload, "domains", JSON_OBJECT);
    const int64_t most = most_of(domains, "");
    const struct answer_column columns[] = {
        COLUMN("DOMAIN", "[{@}|\"\"]"),
        NUMBER("PODS", "{#}"),
        CELL("", cell_domain_bar, &most),
    };
    const struct answer_table table = {COLUMNS(columns), .is_first = true, .widest = NAME_SHOWN,
                                       .most = WORKLOADS_SHOWN, .more = ""};
    value_say(workload,
              "{~kind}[.{apiGroup}] {~namespace}/{~name}, {0pods} pods"
              "[ and {#pending} Pending][, {#onUnknownNodes} on nodes that are gone or not known], "
              "by {~^topologyKey}\n"
              "[skew {#skew}, best {#bestSkew}; ]"
              "[{state=unavoidable}unavoidable: no placement on its feasible nodes has less|"
              "{state=uneven}uneven: the cluster could do better|"
              "{state=unknown}unknown: it is not known where its pods may run|{state}]\n\n",
              out);
    answer_table_put(&table, domains, out);
}

void workloads_print_each(const struct value *root, struct strbuf *out) {
    const struct value *workloads = value_as(root, "workloads", JSON_ARRAY);
    for (const struct value *w = workloads->first; w != NULL; w = w->next) {
        strbuf_append_str(out, w->at > 0 ? STR("\n") : STR(""));
        put_workload(w, out);
    }
}

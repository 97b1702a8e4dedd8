#include "evenness/render.h"

#include "base/json_reader.h"
#include "base/json_writer.h"

#include <errno.h>
#include <stdlib.h>

bool evenness_is_built_in(const struct evenness_workload *w) {
    struct str group;
    return built_in_workload(w->kind, &group) && str_eq(group, w->group);
}

/* ---- writing ---- */

static void put_number(struct json_writer *w, struct str key, int64_t number) {
    json_key(w, key);
    json_put_integer(w, number);
}

/* Puts a number unless it is 0. */
static void put_some(struct json_writer *w, struct str key, uint32_t number) {
    if (number > 0)
        put_number(w, key, number);
}

static void put_domain(struct json_writer *w, const struct evenness_domain *domain) {
    put_number(w, STR("nodes"), domain->nodes);
    put_some(w, STR("cordoned"), domain->cordoned);
    put_some(w, STR("tainted"), domain->tainted);
    put_number(w, STR("pods"), domain->pods);
}

static void put_domains(struct json_writer *w, const struct evenness_key *key) {
    json_key(w, STR("domains"));
    json_begin_array(w);
    for (uint32_t d = 0; d < key->domain_count; d++) {
        json_begin_object(w);
        json_put_member(w, STR("name"), key->domains[d].name);
        put_domain(w, &key->domains[d]);
        json_end_object(w);
    }
    json_end_array(w);
}

/* Writes the domains whose pods do not count, if there are any. */
static void put_elsewhere(struct json_writer *w, const struct evenness_key *key,
                          const struct evenness_result *result) {
    bool any = false;
    for (uint32_t i = 0; result->state != EVENNESS_UNKNOWN && i < result->count; i++) {
        const struct evenness_count *count = &key->counts[result->first + i];
        if (count->feasible != 0)
            continue;
        if (!any) {
            json_key(w, STR("elsewhere"));
            json_begin_object(w);
        }
        any = true;
        put_number(w, key->domains[count->domain].name, count->pods);
    }
    if (any)
        json_end_object(w);
}

static void put_workload(struct json_writer *w, const struct evenness_workload *workload,
                         const struct evenness_key *key, const struct evenness_result *result) {
    json_begin_object(w);
    json_put_member(w, STR("namespace"), workload->namespace);
    json_put_member(w, STR("name"), workload->name);
    json_put_member(w, STR("kind"), workload->kind);
    if (!evenness_is_built_in(workload))
        json_put_member(w, STR("apiGroup"), workload->group);
    put_number(w, STR("pods"), workload->pods);
    put_some(w, STR("onUnknownNodes"), workload->lost);
    put_some(w, STR("pending"), workload->pending);
    json_key(w, STR("domains"));
    json_begin_object(w);
    for (uint32_t i = 0; i < result->count; i++) {
        const struct evenness_count *count = &key->counts[result->first + i];
        put_number(w, key->domains[count->domain].name, count->pods);
    }
    json_end_object(w);
    put_elsewhere(w, key, result);
    if (result->state != EVENNESS_UNKNOWN) {
        put_number(w, STR("skew"), result->skew);
        put_number(w, STR("bestSkew"), result->best);
    }
    json_put_member(w, STR("state"), str_of(evenness_state_names[result->state]));
    json_end_object(w);
}

void evenness_render(const struct evenness_report *r, const struct evenness_page *page,
                     struct strbuf *out) {
    const struct evenness_key *key = &r->keys[page->key];
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_member(&w, STR("topologyKey"), key->name);
    if (page->data_age_ms > 0)
        put_number(&w, STR("dataAgeMilliseconds"), page->data_age_ms);
    put_domains(&w, key);
    if (key->without.nodes > 0) {
        json_key(&w, STR("withoutKey"));
        json_begin_object(&w);
        put_domain(&w, &key->without);
        json_end_object(&w);
    }
    put_some(&w, STR("onUnknownNodes"), r->lost);
    put_some(&w, STR("pending"), r->pending);
    json_key(&w, STR("workloads"));
    json_begin_array(&w);
    for (uint32_t i = 0; i < page->count; i++)
        put_workload(&w, &r->workloads[page->numbers[i]], key, &key->results[page->numbers[i]]);
    json_end_array(&w);
    put_some(&w, STR("notMeasured"), r->not_measured);
    if (page->more.n > 0)
        json_put_member(&w, STR("continue"), page->more);
    json_end_object(&w);
}

/* ---- reading ---- */

struct reading {
    struct json_reader r;
    struct evenness_key *key;
    struct evenness_report *report;
    uint32_t domain_cap, workload_cap, result_cap, count_cap, count_count;
};

static uint32_t number(struct json_reader *r) {
    return (uint32_t)json_integer(r, 0, INT32_MAX);
}

/* Reads the members of a domain; the object has been begun. */
static void read_domain_members(struct reading *g, struct evenness_domain *domain) {
    struct str name;
    while (json_member(&g->r, &name))
        if (str_eq(name, STR("name")))
            domain->name = json_string(&g->r);
        else if (str_eq(name, STR("nodes")))
            domain->nodes = number(&g->r);
        else if (str_eq(name, STR("cordoned")))
            domain->cordoned = number(&g->r);
        else if (str_eq(name, STR("tainted")))
            domain->tainted = number(&g->r);
        else if (str_eq(name, STR("pods")))
            domain->pods = number(&g->r);
}

static void read_domain(struct reading *g) {
    struct evenness_key *key = g->key;
    key->domains = arena_push(g->r.arena, key->domains, key->domain_count, &g->domain_cap,
                              sizeof *key->domains);
    if (key->domains == NULL || !json_object(&g->r))
        return; /* the arena or the reader has failed */
    struct evenness_domain *domain = &key->domains[key->domain_count++];
    *domain = (struct evenness_domain){.nodes = 0};
    read_domain_members(g, domain);
    if (key->domain_count > 1 && str_cmp(domain[-1].name, domain->name) >= 0)
        json_fail(&g->r, "domains must be in the order of their names, each once");
}

static int by_name(const void *a, const void *b) {
    const struct evenness_domain *x = a, *y = b;
    return str_cmp(x->name, y->name);
}

static void read_counts(struct reading *g, struct evenness_result *result) {
    struct evenness_key *key = g->key;
    struct evenness_domain wanted = {.nodes = 0};
    result->first = g->count_count;
    if (!json_object(&g->r))
        return;
    while (json_member(&g->r, &wanted.name)) {
        const struct evenness_domain *domain =
            key->domain_count == 0
                ? NULL
                : bsearch(&wanted, key->domains, key->domain_count, sizeof wanted, by_name);
        if (domain == NULL) {
            json_fail(&g->r, "a domain that was not listed before");
            return;
        }
        key->counts =
            arena_push(g->r.arena, key->counts, g->count_count, &g->count_cap, sizeof *key->counts);
        if (key->counts == NULL)
            return; /* the arena has failed */
        key->counts[g->count_count++] = (struct evenness_count){
            (uint32_t)(domain - key->domains) & INT32_MAX, true, number(&g->r)};
        result->count++;
    }
}

/* Marks domains that were read before as not feasible. They come in the same order again. */
static void read_elsewhere(struct reading *g, const struct evenness_result *result) {
    struct evenness_key *key = g->key;
    struct str name;
    uint32_t i = 0;
    if (!json_object(&g->r))
        return;
    while (json_member(&g->r, &name)) /* the number was read before */
        for (bool found = false; !found && i < result->count; i++) {
            struct evenness_count *count = &key->counts[result->first + i];
            found = str_eq(key->domains[count->domain].name, name);
            if (found)
                count->feasible = 0;
        }
}

static enum evenness_state state_named(struct json_reader *r) {
    struct str name = json_string(r);
    for (int s = 0; s < EVENNESS_STATES; s++)
        if (str_eq(name, str_of(evenness_state_names[s])))
            return (enum evenness_state)s;
    return EVENNESS_UNKNOWN;
}

static void read_workload(struct reading *g) {
    struct evenness_report *report = g->report;
    struct evenness_key *key = g->key;
    struct str name;
    report->workloads = arena_push(g->r.arena, report->workloads, report->workload_count,
                                   &g->workload_cap, sizeof *report->workloads);
    key->results = arena_push(g->r.arena, key->results, report->workload_count, &g->result_cap,
                              sizeof *key->results);
    if (report->workloads == NULL || key->results == NULL || !json_object(&g->r))
        return; /* the arena or the reader has failed */
    struct evenness_workload *w = &report->workloads[report->workload_count];
    struct evenness_result *result = &key->results[report->workload_count++];
    struct str group = {0};
    *w = (struct evenness_workload){.pods = 0};
    *result = (struct evenness_result){.skew = 0};
    while (json_member(&g->r, &name))
        if (str_eq(name, STR("namespace")))
            w->namespace = json_string(&g->r);
        else if (str_eq(name, STR("name")))
            w->name = json_string(&g->r);
        else if (str_eq(name, STR("kind")))
            w->kind = json_string(&g->r);
        else if (str_eq(name, STR("apiGroup")))
            group = json_string(&g->r);
        else if (str_eq(name, STR("pods")))
            w->pods = number(&g->r);
        else if (str_eq(name, STR("onUnknownNodes")))
            w->lost = number(&g->r);
        else if (str_eq(name, STR("pending")))
            w->pending = number(&g->r);
        else if (str_eq(name, STR("domains")))
            read_counts(g, result);
        else if (str_eq(name, STR("elsewhere")))
            read_elsewhere(g, result);
        else if (str_eq(name, STR("skew")))
            result->skew = number(&g->r);
        else if (str_eq(name, STR("bestSkew")))
            result->best = number(&g->r);
        else if (str_eq(name, STR("state")))
            result->state = state_named(&g->r);
    if (group.p != NULL || !built_in_workload(w->kind, &w->group))
        w->group = group;
    key->totals[result->state]++;
}

static void read_members(struct reading *g, struct str *ret_more) {
    struct str name;
    while (json_member(&g->r, &name))
        if (str_eq(name, STR("topologyKey")))
            g->key->name = json_string(&g->r);
        else if (str_eq(name, STR("dataAgeMilliseconds")))
            g->report->data_age_ms = json_integer(&g->r, 0, INT64_MAX);
        else if (str_eq(name, STR("domains")) && json_array(&g->r))
            while (json_element(&g->r))
                read_domain(g);
        else if (str_eq(name, STR("workloads")) && json_array(&g->r))
            while (json_element(&g->r))
                read_workload(g);
        else if (str_eq(name, STR("withoutKey")) && json_object(&g->r))
            read_domain_members(g, &g->key->without);
        else if (str_eq(name, STR("onUnknownNodes")))
            g->report->lost = number(&g->r);
        else if (str_eq(name, STR("pending")))
            g->report->pending = number(&g->r);
        else if (str_eq(name, STR("notMeasured")))
            g->report->not_measured = number(&g->r);
        else if (str_eq(name, STR("continue")))
            *ret_more = json_string(&g->r);
}

int evenness_read(struct str json, struct arena *arena, struct evenness_report *ret,
                  struct str *ret_more, struct err *err) {
    struct evenness_key *key = arena_alloc(arena, sizeof *key);
    struct reading g = {.key = key, .report = ret};
    *ret = (struct evenness_report){.keys = key, .key_count = 1};
    *ret_more = STR("");
    if (key == NULL)
        return err_set(err, -ENOMEM, "no memory for the report");
    json_reader_init(&g.r, json, arena, "report");
    if (json_object(&g.r))
        read_members(&g, ret_more);
    int r = json_finish(&g.r, err);
    if (r != 0)
        return r;
    key->worst = arena_array(arena, ret->workload_count, sizeof *key->worst);
    for (uint32_t i = 0; key->worst != NULL && i < ret->workload_count; i++)
        key->worst[i] = i;
    return arena_failed(arena) ? err_set(err, -ENOMEM, "no memory for the report") : 0;
}

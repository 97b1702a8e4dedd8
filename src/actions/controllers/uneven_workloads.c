/*
 * Workloads are followed by a hash of their names, because a workload's number changes from report
 * to report. Each report makes a new list of the followed workloads, in the report's order, so a
 * namespace's workloads are neighbours.
 */
#include "controllers/uneven_workloads.h"

#include "base/hash.h"
#include "base/hashmap.h"
#include "base/limits.h"
#include "controllers/reasons.h"
#include "evenness/render.h"
#include "model/names.h"
#include "model/topology.h"

#include <errno.h>
#include <stdlib.h>

enum {
    LIMITERS = 1024, /* each namespace uses one, by a hash that nobody can predict */
    NAMED_DOMAINS = 8,
};

struct followed {
    struct hash128 key;
    int64_t since_ms; /* uneven since this time */
    uint32_t number;  /* the workload's number in the report */
    uint32_t keys;    /* bit i: uneven by the report's key i; 0: even again */
    bool told;        /* WorkloadUneven was written */
};

struct uneven_workloads {
    struct uneven_workloads_options options;
    struct followed *items; /* owned */
    uint32_t count, next;   /* next: index of the next turn */
    struct hashmap index;
    int64_t cluster_ms, namespace_ms[LIMITERS]; /* the time when each limit is completely free
                                                   again */
};

struct uneven_workloads *uneven_workloads_new(const struct uneven_workloads_options *options) {
    struct uneven_workloads *u = calloc(1, sizeof *u);
    if (u == NULL)
        return NULL;
    u->options = *options;
    u->cluster_ms = INT64_MIN;
    for (int i = 0; i < LIMITERS; i++)
        u->namespace_ms[i] = INT64_MIN;
    return u;
}

void uneven_workloads_free(struct uneven_workloads *u) {
    if (u == NULL)
        return;
    free(u->items);
    hashmap_done(&u->index);
    free(u);
}

/* ---- a new report ---- */

static struct hash128 key_of(const struct evenness_workload *w) {
    const struct str parts[] = {w->namespace, w->group, w->kind, w->name};
    struct hash128 hashes[4];
    for (int i = 0; i < 4; i++)
        hashes[i] = hash_bytes128(parts[i].p, parts[i].n);
    return hash_bytes128(hashes, sizeof hashes);
}

static bool is_same(const void *ctx, uint32_t id, const void *key) {
    const struct uneven_workloads *u = ctx;
    const struct hash128 *wanted = key;
    return hash128_equal(u->items[id].key, *wanted);
}

/* Returns the keys that count for workloads without a policy: all default keys of the report except
 * the hostname. */
static uint32_t default_keys(const struct evenness_report *r) {
    uint32_t ret = 0;
    for (uint32_t k = 0; k < r->key_count; k++)
        for (int i = 0; i < EVENNESS_DEFAULT_KEYS; i++)
            if (str_eq(r->keys[k].name, str_of(evenness_default_keys[i])) &&
                !str_eq(r->keys[k].name, TOPOLOGY_KEY_HOSTNAME))
                ret |= 1u << k;
    return ret;
}

/* Returns the subset of `keys` by which the workload is in this state. */
static uint32_t keys_in(const struct evenness_report *r, uint32_t number, uint32_t keys,
                        enum evenness_state state) {
    uint32_t ret = 0;
    for (uint32_t k = 0; k < r->key_count; k++)
        if ((keys >> k & 1) != 0 && r->keys[k].results[number].state == state)
            ret |= 1u << k;
    return ret;
}

/* Should the workload be followed? If so, fills *ret. */
static bool follow(const struct uneven_workloads *u, const struct evenness_report *r,
                   uint32_t number, uint32_t keys, int64_t now_ms, struct followed *ret) {
    uint32_t uneven = keys_in(r, number, keys, EVENNESS_UNEVEN);
    if (uneven == 0 && u->count == 0)
        return false;
    struct hash128 key = key_of(&r->workloads[number]);
    uint32_t id = hashmap_find(&u->index, key.a, is_same, u, &key);
    const struct followed *before = id != HASHMAP_NONE ? &u->items[id] : NULL;
    *ret = (struct followed){
        .key = key, .since_ms = now_ms, .number = number, .keys = uneven, .told = false};
    if (before != NULL && before->keys != 0)
        ret->since_ms = before->since_ms;
    if (before != NULL)
        ret->told = before->told;
    /* the workload may still be uneven by a key whose state is unknown */
    if (uneven == 0 && ret->told && keys_in(r, number, keys, EVENNESS_UNKNOWN) != 0)
        ret->keys = before->keys;
    return ret->keys != 0 || ret->told;
}

/* A namespace's workloads are neighbours, so *last keeps the answer of the last call. */
struct watched {
    struct str namespace;
    bool is;
};

static bool is_watched(const struct uneven_workloads *u, struct str namespace,
                       struct watched *last) {
    const struct uneven_workloads_options *o = &u->options;
    if (o->namespace_count == 0)
        return true;
    if (!str_empty(last->namespace) && str_eq(last->namespace, namespace))
        return last->is;
    *last = (struct watched){namespace, false};
    for (size_t i = 0; i < o->namespace_count && !last->is; i++)
        last->is = str_eq(namespace, str_of(o->namespaces[i]));
    return last->is;
}

/* Makes the list of followed workloads from a new report; NULL without memory. */
static struct followed *list(const struct uneven_workloads *u, const struct evenness_report *r,
                             const struct evenness_tag *tags, uint32_t tag_count, int64_t now_ms,
                             uint32_t *ret_count) {
    struct followed *items = NULL, one;
    uint32_t cap = 0, by_default = default_keys(r);
    struct watched last = {.is = false};
    *ret_count = 0;
    for (uint32_t i = 0; i < r->workload_count; i++) {
        uint32_t tag = r->workloads[i].tag;
        if (!is_watched(u, r->workloads[i].namespace, &last))
            continue;
        uint32_t keys = tag < tag_count && tags[tag].keys != 0 ? tags[tag].keys : by_default;
        if (!follow(u, r, i, keys, now_ms, &one))
            continue;
        if (items == NULL || *ret_count == cap) {
            cap = cap < 16 ? 16 : cap + cap / 2;
            struct followed *moved = realloc(items, cap * sizeof *items);
            if (moved == NULL) {
                free(items);
                return NULL;
            }
            items = moved;
        }
        items[(*ret_count)++] = one;
    }
    return items != NULL ? items : calloc(1, sizeof *items);
}

int uneven_workloads_see(struct uneven_workloads *u, const struct evenness_report *report,
                         const struct evenness_tag *tags, uint32_t tag_count, int64_t now_ms) {
    struct hashmap index = {.count = 0};
    uint32_t count = 0;
    int r = 0;
    if (u->options.after_ms <= 0)
        return 0;
    struct followed *items = list(u, report, tags, tag_count, now_ms, &count);
    for (uint32_t i = 0; items != NULL && r == 0 && i < count; i++) {
        r = hashmap_reserve(&index);
        if (r == 0)
            hashmap_insert(&index, items[i].key.a, i);
    }
    if (items == NULL || r != 0) {
        free(items);
        hashmap_done(&index);
        return -ENOMEM;
    }
    free(u->items);
    hashmap_done(&u->index);
    u->items = items;
    u->index = index;
    u->next = count > 0 ? u->next % count : 0;
    u->count = count;
    return 0;
}

/* ---- pace ---- */

static bool is_used_up(int64_t unused_at_ms, int64_t now_ms, int64_t interval_ms, int64_t burst) {
    return unused_at_ms > now_ms + (burst - 1) * interval_ms;
}

static void use(int64_t *unused_at_ms, int64_t now_ms, int64_t interval_ms) {
    *unused_at_ms = (*unused_at_ms > now_ms ? *unused_at_ms : now_ms) + interval_ms;
}

static int64_t *limiter_of(struct uneven_workloads *u, struct str namespace) {
    return &u->namespace_ms[hash_str(namespace) % LIMITERS];
}

static bool cluster_may(const struct uneven_workloads *u, int64_t now_ms) {
    return !is_used_up(u->cluster_ms, now_ms, LIMIT_UNEVEN_EVENT_MS, LIMIT_UNEVEN_EVENTS);
}

/* ---- the text of Events ---- */

/* Returns the apiVersion of built-in kinds and of Rollouts; "" for other kinds, of which only the
 * group is known. The note has the group. */
static struct str api_version(const struct evenness_workload *w) {
    if (str_eq(w->group, STR(ROLLOUT_GROUP)) && str_eq(w->kind, STR(ROLLOUT_KIND)))
        return STR(ROLLOUT_API);
    return !evenness_is_built_in(w)             ? STR("")
           : str_eq(w->group, STR(APPS_GROUP))  ? STR(APPS_API)
           : str_eq(w->group, STR(BATCH_GROUP)) ? STR(BATCH_API)
                                                : STR("v1");
}

static void put_domains(const struct evenness_key *key, const struct evenness_result *result,
                        struct strbuf *out) {
    uint32_t named = 0, others = 0;
    for (uint32_t i = 0; i < result->count; i++) {
        const struct evenness_count *count = &key->counts[result->first + i];
        if (count->feasible == 0)
            continue;
        if (named == NAMED_DOMAINS) {
            others++;
            continue;
        }
        strbuf_appendf(out, "%s%.*s %u", named++ > 0 ? ", " : ": ",
                       STR_ARG(key->domains[count->domain].name), count->pods);
    }
    if (others > 0)
        strbuf_appendf(out, " and %u more", others);
}

/* Appends "uneven by zone for 15 minutes: skew 4, and 1 is possible: a 5, b 1". */
static void put_uneven(const struct uneven_workloads *u, const struct evenness_report *r,
                       const struct followed *f, struct strbuf *out) {
    const char *before = "uneven by ";
    for (uint32_t k = 0; k < r->key_count; k++) {
        const struct evenness_result *result = &r->keys[k].results[f->number];
        if ((f->keys >> k & 1) == 0 || result->state != EVENNESS_UNEVEN)
            continue;
        strbuf_appendf(out, "%s%.*s (skew %u, and %u is possible", before, STR_ARG(r->keys[k].name),
                       result->skew, result->best);
        put_domains(&r->keys[k], result, out);
        strbuf_append_char(out, ')');
        before = ", and by ";
    }
    strbuf_appendf(out, " for %lld minutes or more", (long long)(u->options.after_ms / 60000));
}

/* Returns false if the Event must wait because there is no room now. */
static bool record(const struct uneven_workloads *u, const struct evenness_report *r,
                   const struct followed *f) {
    const struct evenness_workload *w = &r->workloads[f->number];
    const struct event_reason *reason =
        &controller_reasons[f->keys != 0 ? REASON_WORKLOAD_UNEVEN : REASON_WORKLOAD_EVEN];
    CLEANUP(strbuf_done) struct strbuf note = {.max = 4096};
    strbuf_appendf(&note, "the %u pods of this %.*s", w->pods, STR_ARG(w->kind));
    if (!evenness_is_built_in(w))
        strbuf_appendf(&note, " of %.*s", STR_ARG(w->group));
    strbuf_appendf(&note, " are ");
    if (f->keys != 0)
        put_uneven(u, r, f, &note);
    else
        strbuf_appendf(&note, "again as even as the nodes where they may run allow");
    const struct event event = {.regarding = {.api_version = api_version(w),
                                              .kind = w->kind,
                                              .namespace = w->namespace,
                                              .name = w->name},
                                .type = reason->type,
                                .reason = str_of(reason->name),
                                .note = strbuf_str(&note)};
    bool writes = elector_leads(u->options.elector);
    return !writes || event_record(u->options.events, &event);
}

/* ---- when Events are due ---- */

static bool is_due(const struct uneven_workloads *u, const struct followed *f, int64_t now_ms) {
    return f->told ? f->keys == 0 : f->keys != 0 && now_ms - f->since_ms >= u->options.after_ms;
}

void uneven_workloads_tell(struct uneven_workloads *u, const struct evenness_report *report,
                           int64_t now_ms) {
    uint32_t from = u->next;
    for (uint32_t i = 0; i < u->count && cluster_may(u, now_ms); i++) {
        uint32_t at = (from + i) % u->count;
        struct followed *f = &u->items[at];
        if (!is_due(u, f, now_ms) || f->number >= report->workload_count)
            continue;
        int64_t *limiter = limiter_of(u, report->workloads[f->number].namespace);
        if (is_used_up(*limiter, now_ms, LIMIT_UNEVEN_NAMESPACE_MS, LIMIT_UNEVEN_OF_A_NAMESPACE))
            continue;
        use(limiter, now_ms, LIMIT_UNEVEN_NAMESPACE_MS);
        use(&u->cluster_ms, now_ms, LIMIT_UNEVEN_EVENT_MS);
        if (record(u, report, f))
            f->told = !f->told;
        u->next = (at + 1) % u->count;
    }
}

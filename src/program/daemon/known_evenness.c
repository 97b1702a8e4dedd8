#include "daemon/known_evenness.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/time.h"
#include "cache/placed.h"
#include "controllers/uneven_workloads.h"
#include "policy/match.h"
#include "volumes/store.h"

#include <errno.h>
#include <stdlib.h>

enum { TAG_BYTES = 16 << 20 }; /* memory for the labels of a workload and of its namespace */

struct known_evenness {
    struct cache *cache;
    struct policy_source *policies;
    struct evenness_latest *latest;
    struct uneven_workloads *uneven; /* owned */
    struct informer *volumes;
    int64_t stale_after_ms;
    uint64_t seen;      /* the count of changes before the last report */
    uint64_t keys_seen; /* a hash of that report's topology keys */
    int64_t next_ms;    /* time of the next report by clock_real() */
    bool measured;
};

int known_evenness_start(const struct known_evenness_options *options, struct known_evenness **ret,
                         struct err *err) {
    const struct uneven_workloads_options uneven = {.events = options->events,
                                                    .elector = options->elector,
                                                    .after_ms = options->uneven_after_ms,
                                                    .namespaces = options->event_namespaces,
                                                    .namespace_count =
                                                        options->event_namespace_count};
    struct known_evenness *k = calloc(1, sizeof *k);
    if (k == NULL || (k->uneven = uneven_workloads_new(&uneven)) == NULL) {
        free(k);
        return err_set(err, -ENOMEM, "no memory to start");
    }
    k->cache = options->cache;
    k->policies = options->policies;
    k->latest = options->latest;
    k->volumes = options->volumes;
    k->stale_after_ms = options->stale_after_ms;
    *ret = k;
    return 0;
}

/* ---- keys ---- */

static void add_key(struct str *keys, uint32_t *count, struct str key) {
    for (uint32_t i = 0; i < *count; i++)
        if (str_eq(keys[i], key))
            return;
    if (*count < LIMIT_EVENNESS_KEYS)
        keys[(*count)++] = key;
}

/* Gathers topology keys of nodes, then of policies in force, up to a limit. They are valid while
 * the policies are held. */
static int gather_keys(struct known_evenness *k, const struct policies *held, struct str *keys,
                       uint32_t *ret_count) {
    uint32_t count;
    const struct policy *items = policies_items(held, &count);
    int r = evenness_keys_of(k->cache, keys, ret_count);
    for (uint32_t i = 0; r == 0 && i < count && *ret_count < LIMIT_EVENNESS_KEYS; i++)
        for (uint32_t j = 0; str_empty(items[i].problem) && j < items[i].spread_count; j++)
            add_key(keys, ret_count, items[i].spread[j].topology_key);
    return r;
}

/* ---- policies of workloads ---- */

struct tagging {
    const struct policy *items;
    uint32_t count;
    struct arena arena; /* has the memory for one workload */
};

/* Returns the number of the policy that spreads the group's pods, or would do so if it were
 * enforced. */
static uint32_t tag_of(void *ctx, const struct cache_view *v, uint32_t group) {
    struct tagging *t = ctx;
    struct cache_group about;
    struct policy_choice choice;
    const struct policy *policy = NULL;
    arena_reset(&t->arena);
    if (cache_group_of(v, group, &t->arena, &about) != 0)
        return UINT32_MAX;
    if (policy_of_group((struct policy_list){t->items, t->count}, &about, &choice))
        policy = choice.enforced[POLICY_SPREAD] != NULL ? choice.enforced[POLICY_SPREAD]
                                                        : choice.audited[POLICY_SPREAD];
    return policy == NULL ? UINT32_MAX : (uint32_t)(policy - t->items);
}

static int note_policies(const struct known_evenness *k, const struct tagging *t,
                         struct evenness_report *report) {
    struct evenness_tag *tags = calloc(t->count + 1, sizeof *tags);
    if (tags == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < t->count; i++) {
        tags[i].about = t->items[i].name;
        for (uint32_t j = 0; str_empty(t->items[i].problem) && j < t->items[i].spread_count; j++)
            for (uint32_t n = 0; n < report->key_count; n++)
                if (str_eq(report->keys[n].name, t->items[i].spread[j].topology_key))
                    tags[i].keys |= 1u << n;
    }
    int r = evenness_report_note(report, tags, t->count);
    if (r == 0)
        r = uneven_workloads_see(k->uneven, report, tags, t->count,
                                 clock_real()->now_ms(clock_real()));
    free(tags);
    return r;
}

/* ---- measuring ---- */

static int make_report(struct known_evenness *k, const struct policies *held,
                       const struct str *keys, uint32_t count, struct evenness_report **ret,
                       struct err *err) {
    struct evenness_round *round = NULL;
    struct tagging tagging;
    arena_init(&tagging.arena, TAG_BYTES);
    tagging.items = policies_items(held, &tagging.count);
    int r = evenness_round_new(k->cache, keys, count, &round, err);
    if (r == 0) {
        evenness_round_tag(round, tag_of, &tagging, tagging.count);
        evenness_round_pin(round, volume_pins, k->volumes);
        r = evenness_round_run(round, ret, err);
    }
    if (r == 0 && note_policies(k, &tagging, *ret) != 0) {
        evenness_report_free(*ret);
        r = err_set(err, -ENOMEM, "no memory for the evenness of policies");
    }
    evenness_round_free(round);
    arena_done(&tagging.arena);
    return r;
}

static void measure(struct known_evenness *k) {
    struct str keys[LIMIT_EVENNESS_KEYS];
    struct evenness_report *report = NULL;
    struct policies *held = policies_hold(k->policies);
    uint32_t count = 0;
    struct err err;
    int64_t began_ms = clock_real()->now_ms(clock_real());
    int r = gather_keys(k, held, keys, &count);
    if (r != 0)
        r = err_set(&err, r, "no memory for the topology keys");
    if (r == 0)
        r = make_report(k, held, keys, count, &report, &err);
    policies_release(held);
    if (r == 0 && evenness_latest_set(k->latest, report) != 0)
        r = err_set(&err, -ENOMEM, "no memory to keep the report");
    if (r != 0)
        LOG_W("cannot measure how even workloads are", LOG_CSTR("why", err.text));
    k->measured = r == 0;
    int64_t now_ms = clock_real()->now_ms(clock_real());
    int64_t wait_ms = (now_ms - began_ms) * LIMIT_EVENNESS_SHARE;
    k->next_ms =
        now_ms + (wait_ms > LIMIT_EVENNESS_INTERVAL_MS ? wait_ms : LIMIT_EVENNESS_INTERVAL_MS);
}

static uint64_t changes(struct known_evenness *k) {
    struct cache_view view;
    cache_view_open(k->cache, &view);
    uint64_t now = cache_changes(&view) + informer_changes(k->volumes);
    cache_view_close(&view);
    return now;
}

/* Writes due Events, but not from stale data: the workloads may have changed since. */
static void tell(struct known_evenness *k) {
    if (!k->measured)
        return; /* the followed workloads may come from a report that was not kept */
    if (k->stale_after_ms > 0 && cache_age_ms(k->cache) > k->stale_after_ms)
        return;
    struct evenness_held *held = evenness_latest_hold(k->latest);
    if (held != NULL)
        uneven_workloads_tell(k->uneven, held->report, clock_real()->now_ms(clock_real()));
    evenness_latest_release(k->latest, held);
}

static void look(struct known_evenness *k) {
    if (clock_real()->now_ms(clock_real()) < k->next_ms)
        return;
    struct policies *held = policies_hold(k->policies);
    struct str keys[LIMIT_EVENNESS_KEYS];
    uint32_t count = 0;
    uint64_t hash = 0;
    int r = gather_keys(k, held, keys, &count);
    for (uint32_t i = 0; r == 0 && i < count; i++)
        hash = hash_mix(hash, hash_str(keys[i]));
    policies_release(held);
    uint64_t now = changes(k);
    if (r == 0 && k->measured && now == k->seen && hash == k->keys_seen)
        return;
    k->seen = now;
    k->keys_seen = hash;
    measure(k);
}

void known_evenness_poll(struct known_evenness *k) {
    if (k == NULL || !cache_ready(k->cache))
        return;
    look(k);
    tell(k);
}

/* ---- reading ---- */

/* Counts pods that are Pending for long. The view is opened anew for each part, so that writers of
 * the cache have their turn. The count is not taken from a report, because it depends on the time
 * and a report may be old. */
static uint32_t count_pending(struct cache *cache) {
    enum { PART = 20000, PENDING_LONG_MS = 600000 };
    const int64_t before_ms = kube_wall_us() / 1000 - PENDING_LONG_MS;
    uint32_t from = 0, count = 0;
    while (from != CACHE_PLACED_END) {
        struct cache_view view;
        cache_view_open(cache, &view);
        count += cache_pending_count_old(&view, &from, PART, before_ms);
        cache_view_close(&view);
    }
    return count;
}

void known_evenness_metrics(const struct known_evenness *k, uint32_t max, struct strbuf *out) {
    if (k != NULL && cache_ready(k->cache))
        strbuf_appendf(out,
                       "# HELP evenkeel_pods_pending Pods without a node for more than 10 minutes "
                       "that have a hard spread constraint or a claim.\n"
                       "# TYPE evenkeel_pods_pending gauge\nevenkeel_pods_pending %u\n",
                       count_pending(k->cache));
    struct evenness_held *held = k == NULL ? NULL : evenness_latest_hold(k->latest);
    if (held == NULL)
        return;
    evenness_metrics_render(held->report, max, out);
    evenness_latest_release(k->latest, held);
}

void known_evenness_free(struct known_evenness *k) {
    if (k == NULL)
        return;
    uneven_workloads_free(k->uneven);
    free(k);
}

#include "daemon/known_evenness.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "cache/placed.h"

#include <errno.h>
#include <stdlib.h>

struct known_evenness {
    struct cache *cache;
    struct policy_source *policies;
    struct evenness_latest *latest; /* owned */
    uint64_t seen;                  /* cache_changes() before the last report */
    uint64_t keys_seen;             /* a hash of the topology keys of that */
    int64_t next_ms;                /* of clock_real() */
    bool measured;
};

int known_evenness_start(struct cache *cache, struct policy_source *policies,
                         struct known_evenness **ret, struct err *err) {
    struct known_evenness *k = calloc(1, sizeof *k);
    struct evenness_latest *latest = evenness_latest_new();
    if (k == NULL || latest == NULL) {
        free(k);
        evenness_latest_free(latest);
        return err_set(err, -ENOMEM, "no memory to start");
    }
    *k = (struct known_evenness){.cache = cache, .policies = policies, .latest = latest};
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

/* Those that nodes have, and those of policies in force, the first ones. They are valid while the
 * policies are held. */
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

/* ---- measuring ---- */

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
        r = evenness_measure(k->cache, keys, count, &report, &err);
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
    uint64_t now = cache_changes(&view);
    cache_view_close(&view);
    return now;
}

void known_evenness_poll(struct known_evenness *k) {
    if (k == NULL || !cache_ready(k->cache) || clock_real()->now_ms(clock_real()) < k->next_ms)
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

/* ---- reading ---- */

struct evenness_latest *known_evenness_latest(const struct known_evenness *k) {
    return k == NULL ? NULL : k->latest;
}

void known_evenness_metrics(const struct known_evenness *k, uint32_t max, struct strbuf *out) {
    struct evenness_held *held = k == NULL ? NULL : evenness_latest_hold(k->latest);
    if (held == NULL)
        return;
    evenness_metrics_render(held->report, max, out);
    evenness_latest_release(k->latest, held);
}

void known_evenness_free(struct known_evenness *k) {
    if (k == NULL)
        return;
    evenness_latest_free(k->latest);
    free(k);
}

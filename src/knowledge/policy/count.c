#include "policy/count.h"

#include "base/sorted.h"
#include "policy/match.h"

#include <stdlib.h>

enum {
    STEP_MATCHES = 20000, /* number of selectors to match in one step, about */
    STEP_GROUPS = 16,     /* least number of pod groups in one step */
    ARENA_BYTES = 16 << 20,
};

/* Policies and their counts. */
struct round {
    struct policies *set; /* held; NULL: no round */
    const struct policy *items;
    uint32_t count;
    struct tally *tallies; /* owned; one for each item; sorted by name after the end of the round */
};

struct tally {
    struct str name;    /* the set's */
    int64_t generation; /* likewise */
    int64_t pods;
};

struct policy_count {
    struct policy_source *policies;
    struct cache *cache;
    struct arena arena; /* for the work on one group */
    struct round now, last;
    uint32_t at; /* index of the next group of the cache */
};

static void round_done(struct round *round) {
    if (round->set != NULL)
        policies_release(round->set);
    free(round->tallies);
    *round = (struct round){.set = NULL};
}

struct policy_count *policy_count_new(struct policy_source *policies, struct cache *cache) {
    struct policy_count *c = calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    c->policies = policies;
    c->cache = cache;
    arena_init(&c->arena, ARENA_BYTES);
    return c;
}

void policy_count_free(struct policy_count *c) {
    if (c == NULL)
        return;
    round_done(&c->now);
    round_done(&c->last);
    arena_done(&c->arena);
    free(c);
}

/* ---- counting ---- */

static bool begin(struct policy_count *c) {
    struct round *round = &c->now;
    c->at = 0;
    round->set = policies_hold(c->policies);
    round->items = policies_items(round->set, &round->count);
    round->tallies = calloc(round->count + 1, sizeof *round->tallies); /* never 0 bytes */
    for (uint32_t i = 0; round->tallies != NULL && i < round->count; i++)
        round->tallies[i] = (struct tally){round->items[i].name, round->items[i].generation, 0};
    return round->tallies != NULL;
}

/* Counts the group's pods for each policy that gives them a part, or would do so if it were
 * enforced. */
static void count(struct round *round, const struct cache_group *group) {
    const struct policy_list policies = {round->items, round->count};
    const struct policy *counted[2 * POLICY_PARTS];
    struct policy_choice choice;
    uint32_t count = 0;
    if (!policy_of_group(policies, group, &choice))
        return;
    for (int i = 0; i < 2 * POLICY_PARTS; i++) {
        const struct policy *policy =
            i < POLICY_PARTS ? choice.enforced[i] : choice.audited[i - POLICY_PARTS];
        bool fresh = policy != NULL;
        for (uint32_t j = 0; j < count; j++)
            fresh &= counted[j] != policy;
        if (!fresh)
            continue;
        counted[count++] = policy;
        round->tallies[policy - round->items].pods += group->pods - group->tied;
    }
}

/* Returns 1 if there are more groups, 0 at the end, or -ENOMEM. */
static int count_some(struct policy_count *c) {
    struct cache_view view;
    struct cache_group group;
    uint32_t groups = STEP_MATCHES / (c->now.count + 1);
    int r = 1;
    cache_view_open(c->cache, &view);
    for (groups = groups > STEP_GROUPS ? groups : STEP_GROUPS; r > 0 && groups > 0; groups--) {
        r = cache_group_next(&view, &c->at, &c->arena, &group);
        if (r > 0)
            count(&c->now, &group);
        arena_reset(&c->arena);
    }
    cache_view_close(&view);
    return r;
}

/* Orders by name. If a file and the API server have the same name, both are there: the API server's
 * policy is used, and comes first. */
static int by_name(const void *a, const void *b) {
    const struct tally *x = a, *y = b;
    int order = str_cmp(x->name, y->name);
    return order != 0 ? order : (x->generation < y->generation) - (x->generation > y->generation);
}

bool policy_count_step(struct policy_count *c) {
    int r = 0;
    if (c->now.set == NULL && !begin(c))
        r = -1;
    if (r == 0)
        r = count_some(c);
    if (r > 0)
        return false;
    if (r == 0) {
        qsort(c->now.tallies, c->now.count, sizeof *c->now.tallies, by_name);
        round_done(&c->last);
        c->last = c->now;
        c->now = (struct round){.set = NULL};
    } else {
        round_done(&c->now);
    }
    return true;
}

static struct str tally_name(const void *items, size_t i) {
    return ((const struct tally *)items)[i].name;
}

int64_t policy_count_of(const struct policy_count *c, const struct policy *policy) {
    bool found;
    const struct tally *tallies = c->last.tallies;
    const size_t at = sorted_place(tallies, c->last.count, tally_name, policy->name, &found);
    return found && tallies[at].generation == policy->generation ? tallies[at].pods : -1;
}

/*
 * Edits our prioritizer. Its scores are 100 for a planned cluster and 0 for others, so one entry
 * with the highest weight adds 1,000. OCM counts an AddOn score once per entry, even if entries are
 * equal; we list ours so often that it outweighs any difference by the user's prioritizers.
 * upstream: pkg/placement schedule.go getWeights(), whose map has a pointer in its key.
 */
#include "admission/placements/edits.h"

#include <errno.h>

enum {
    WORTH = INJECTED_WEIGHT * OCM_PUBLISHED_SCORE,
    ENTRIES_MAX = 32,
    /* largest difference of two clusters' scores by one prioritizer of weight 1 */
    RANGE = 200,
    RANGE_OF_STEADY = 100,
};

static const struct str spread = {"Spread", 6};

static int no_memory(struct err *err) {
    return err_set(err, -ENOMEM, "no memory for its prioritizers");
}

/* ---- weights of prioritizers ---- */

static bool is_spread(const struct shape_configuration *c) {
    return !c->is_add_on && str_eq(c->built_in, spread);
}

/* OCM merges built-in prioritizers: the last entry counts. */
int32_t spread_weight_of(const struct placement_shape *s) {
    for (uint32_t i = s->configuration_count; i-- > 0;)
        if (is_spread(&s->configurations[i]))
            return s->configurations[i].weight;
    return 0;
}

/* Returns the weight of a built-in prioritizer; `absent` if it is not listed. */
static int64_t weight_of(const struct placement_shape *s, struct str name, int64_t absent) {
    for (uint32_t i = s->configuration_count; i-- > 0;) {
        const struct shape_configuration *c = &s->configurations[i];
        if (!c->is_add_on && str_eq(c->built_in, name))
            return c->weight;
    }
    return absent;
}

static int64_t range_of(int64_t weight, int64_t range) {
    return (weight < 0 ? -weight : weight) * range;
}

/* Returns the largest difference of two clusters' scores by all of the user's prioritizers. */
static int64_t user_range(const struct placement_shape *s) {
    const int64_t by_default = str_eq(s->mode, STR("Exact")) ? 0 : 1;
    int64_t range = range_of(weight_of(s, STR("Balance"), by_default), RANGE) +
                    range_of(weight_of(s, STR("Steady"), by_default), RANGE_OF_STEADY) +
                    range_of(weight_of(s, STR("ResourceAllocatableCPU"), 0), RANGE) +
                    range_of(weight_of(s, STR("ResourceAllocatableMemory"), 0), RANGE);
    for (uint32_t i = 0; i < s->configuration_count; i++)
        if (s->configurations[i].is_add_on && !s->configurations[i].is_ours)
            range += range_of(s->configurations[i].weight, RANGE);
    return range;
}

/* ---- the list as it should be ---- */

struct list {
    struct json_writer w;
    struct str ours;    /* one entry */
    uint32_t left;      /* number of our entries still to be written */
    struct str instead; /* an entry that replaces ours; "": nothing */
    uint32_t count;     /* entries */
};

static void put_entry(struct list *list, struct str text) {
    json_put_raw(&list->w, text);
    list->count++;
}

static void put_ours(struct list *list) {
    for (; list->left > 0; list->left--)
        put_entry(list, list->ours);
    if (!str_empty(list->instead))
        put_entry(list, list->instead);
    list->instead = STR("");
}

/* Puts our entries where the first of them was, or in the place of `builtIn: Spread`; else last. */
static void put_list(const struct placement_shape *s, bool inject, bool replaces,
                     struct list *list) {
    bool has_place = false;
    for (uint32_t i = 0; i < s->configuration_count; i++)
        has_place |= s->configurations[i].is_ours;
    json_begin_array(&list->w);
    for (uint32_t i = 0; i < s->configuration_count; i++) {
        const struct shape_configuration *c = &s->configurations[i];
        if (c->is_ours)
            put_ours(list);
        else if (inject && replaces && is_spread(c) && c->weight != 0) {
            if (!has_place)
                put_ours(list);
        } else
            put_entry(list, c->text);
    }
    if (inject)
        put_ours(list);
    json_end_array(&list->w);
}

static struct str write_ours(struct injected_key key, struct arena *arena) {
    const struct str resource = injected_resource_json(key, arena),
                     score = injected_score_json(key, arena);
    return arena_printf(arena,
                        "{\"scoreCoordinate\":{\"type\":\"AddOn\",\"addOn\":{\"resourceName\":%.*s,"
                        "\"scoreName\":%.*s}},\"weight\":%d}",
                        STR_ARG(resource), STR_ARG(score), INJECTED_WEIGHT);
}

static struct str write_spread(int32_t weight, struct arena *arena) {
    return weight == 0 ? STR("")
                       : arena_printf(arena,
                                      "{\"scoreCoordinate\":{\"type\":\"BuiltIn\",\"builtIn\":"
                                      "\"Spread\"},\"weight\":%d}",
                                      weight);
}

/* ---- our entries in the list ---- */

struct found {
    uint32_t ours; /* number of our entries with any key */
    uint32_t good; /* number of entries with this key and our weight */
};

static struct found count_ours(const struct placement_shape *s, struct injected_key key) {
    struct found found = {0};
    for (uint32_t i = 0; i < s->configuration_count; i++) {
        const struct shape_configuration *c = &s->configurations[i];
        found.ours += c->is_ours;
        found.good += c->is_ours && injected_key_eq(c->key, key) && c->weight == INJECTED_WEIGHT;
    }
    return found;
}

/* ---- edits ---- */

static const struct str policy_path[] = {
    {"spec", 4}, {"prioritizerPolicy", 17}, {"configurations", 14}, {"-", 1}};

static int put_policy(struct patch *patch, struct str ours, uint32_t entries, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf out = {0};
    struct json_writer w = {.out = &out};
    json_begin_object(&w);
    json_put_member(&w, STR("mode"), STR("Additive"));
    json_key(&w, STR("configurations"));
    json_begin_array(&w);
    for (uint32_t i = 0; i < entries; i++)
        json_put_raw(&w, ours);
    json_end_array(&w);
    json_end_object(&w);
    const struct str value =
        arena_str(patch->arena, strbuf_failed(&out) ? STR("") : strbuf_str(&out));
    return str_empty(value) ? no_memory(err) : patch_add(patch, policy_path, 2, value, err);
}

static int append(struct patch *patch, struct str ours, uint32_t entries, struct err *err) {
    struct patch_change changes[ENTRIES_MAX];
    for (uint32_t i = 0; i < entries; i++)
        changes[i] = (struct patch_change){PATCH_ADD, policy_path, 4, ours};
    return patch_apply(patch, changes, entries, err);
}

/* Writes a new list. Removes the list if it would be empty, and also the prioritizerPolicy if we
 * made it. */
static int rewrite(const struct placement_question *q, const struct wanted *wanted, bool replaces,
                   struct list *list, struct patch *patch, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf out = {0};
    const bool may_be_made = str_empty(q->shape.mode) || str_eq(q->shape.mode, STR("Additive"));
    list->w = (struct json_writer){.out = &out};
    put_list(&q->shape, wanted->inject, replaces, list);
    if (list->count == 0) {
        const struct patch_change change = {
            PATCH_REMOVE, policy_path, wanted->kept.made_policy && may_be_made ? 2 : 3, {0}};
        return patch_apply(patch, &change, 1, err);
    }
    const struct str value =
        arena_str(q->head.arena, strbuf_failed(&out) ? STR("") : strbuf_str(&out));
    return str_empty(value) ? no_memory(err) : patch_add(patch, policy_path, 3, value, err);
}

static int remove_ours(const struct placement_question *q, const struct wanted *wanted,
                       const struct found *found, struct patch *patch, struct err *err) {
    struct list list = {.instead = write_spread(wanted->kept.weight, q->head.arena)};
    if (found->ours == 0)
        return 0;
    return arena_failed(q->head.arena) ? no_memory(err)
                                       : rewrite(q, wanted, false, &list, patch, err);
}

int edit_configurations(const struct placement_question *q, struct wanted *wanted,
                        struct patch *patch, bool *ret_weak, struct err *err) {
    const struct placement_shape *s = &q->shape;
    const struct found found = count_ours(s, wanted->note.key);
    const int32_t weight = spread_weight_of(s);
    *ret_weak = false;
    if (!wanted->inject)
        return remove_ours(q, wanted, &found, patch, err);
    /* a list without our entries was written by the user */
    wanted->note.weight = weight != 0 ? weight : found.ours > 0 ? wanted->kept.weight : 0;
    wanted->note.made_policy = !s->has_policy || (found.ours > 0 && wanted->kept.made_policy);
    const int64_t needed = wanted->gate ? 1 : user_range(s) / WORTH + 1;
    const uint32_t entries = needed < ENTRIES_MAX ? (uint32_t)needed : ENTRIES_MAX;
    *ret_weak = needed > ENTRIES_MAX;
    const struct str ours = write_ours(wanted->note.key, q->head.arena);
    struct list list = {.ours = ours, .left = entries};
    if (str_empty(ours) || arena_failed(q->head.arena))
        return no_memory(err);
    if (!s->has_policy)
        return put_policy(patch, ours, entries, err);
    if (found.ours == 0 && weight == 0)
        return append(patch, ours, entries, err);
    if (found.ours == entries && found.good == entries && weight == 0)
        return 0;
    return rewrite(q, wanted, weight != 0, &list, patch, err);
}

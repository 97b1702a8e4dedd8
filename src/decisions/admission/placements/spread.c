/*
 * Decides about a Placement that has spread terms or had some.
 */
#include "admission/placements/edits.h"

#include <errno.h>

static const struct str disable_path[] = {
    {"metadata", 8},
    {"annotations", 11},
    {PLACEMENT_DISABLE_ANNOTATION, sizeof PLACEMENT_DISABLE_ANNOTATION - 1}};
static const struct str disabled_path[] = {
    {"metadata", 8},
    {"annotations", 11},
    {PLACEMENT_DISABLED_ANNOTATION, sizeof PLACEMENT_DISABLED_ANNOTATION - 1}};
static const struct str injected_path[] = {
    {"metadata", 8},
    {"annotations", 11},
    {PLACEMENT_INJECTED_ANNOTATION, sizeof PLACEMENT_INJECTED_ANNOTATION - 1}};

static enum placement_mode mode_of(const struct placement_question *q) {
    return q->terms.mode != PLACEMENT_UNSET ? q->terms.mode : placement_options(q)->mode;
}

static bool is_hard(const struct ocm_terms *terms) {
    for (uint32_t i = 0; i < terms->count; i++)
        if (terms->items[i].hard)
            return true;
    return false;
}

/* ---- entries that were added before ---- */

static struct injected_key draw(const struct placement_options *o) {
    const uint32_t shards = o->shards < INJECTED_SHARDS ? o->shards : INJECTED_SHARDS;
    return (struct injected_key){.shard = shards > 0 ? (uint32_t)(o->random >> 32) % shards : 0,
                                 .number = (uint32_t)o->random};
}

/*
 * Prefers the stored object, which was reviewed before, to the new one. Replaces an annotation that
 * is not valid by one with the key in use. In a new Placement only the annotation counts, because a
 * review is repeated after other webhooks' changes: other entries of our form were copied from
 * another Placement.
 */
static struct injected find_kept(const struct placement_question *q) {
    struct injected kept = {.valid = true};
    const struct injected_key own =
        injected_key_of(q->placement.meta.uid, placement_options(q)->shards);
    if (q->is_updated && q->shape.injected.valid && injected_key_eq(q->shape.injected.key, own))
        return q->shape.injected; /* the publisher of the Placement's scores has given the Placement
                                     its own key */
    if (q->old.injected.valid)
        return q->old.injected;
    if (q->is_updated && shape_key(&q->old, &kept.key))
        return kept;
    if (q->shape.injected.valid)
        return q->shape.injected;
    if (!q->is_updated || !shape_key(&q->shape, &kept.key))
        kept.key = draw(placement_options(q));
    return kept;
}

/* Returns the annotation to believe. The new object's annotation may be ours, from an earlier
 * review of the same change. */
static struct injected believe(const struct placement_question *q) {
    const struct injected *now = &q->shape.injected;
    struct injected kept = find_kept(q);
    if (now->valid && injected_key_eq(kept.key, now->key)) {
        kept.weight = now->weight;
        kept.made_policy |= now->made_policy;
        kept.made_predicates |= now->made_predicates;
    }
    if (placement_options(q)->is_publisher)
        kept.key = placement_options(q)->key;
    return kept;
}

/* A gate without published scores selects nothing. */
static bool may_gate(const struct placement_question *q, struct injected_key key) {
    if (placement_options(q)->withholds_gate)
        return false;
    return (!q->is_updated && !placement_options(q)->is_waiting) ||
           placement_options(q)->is_publisher || shape_is_gated(&q->old, key) ||
           shape_is_gated(&q->shape, key);
}

/* ---- edits ---- */

static int edit_annotation(const struct placement_question *q, const struct wanted *wanted,
                           struct patch *patch, struct err *err) {
    struct strbuf out = {0};
    struct json_writer w = {.out = &out};
    if (!wanted->inject) {
        const struct patch_change change = {
            PATCH_REMOVE, injected_path, q->shape.annotation_count == 1 ? 2 : 3, {0}};
        return q->shape.has_annotation ? patch_apply(patch, &change, 1, err) : 0;
    }
    const struct str text = injected_write(&wanted->note, wanted->gate, q->head.arena);
    if (q->shape.has_annotation && str_eq(text, q->shape.annotation))
        return 0;
    json_put_string(&w, text);
    const struct str value =
        arena_str(q->head.arena, strbuf_failed(&out) ? STR("") : strbuf_str(&out));
    strbuf_done(&out);
    return str_empty(text) || str_empty(value)
               ? err_set(err, -ENOMEM, "no memory for its annotation")
               : patch_add(patch, injected_path, 3, value, err);
}

/* Appends a warning; copies the list, which is short. */
static void add_warning(const struct placement_question *q, struct admission_outcome *ret,
                        const char *text) {
    struct str *warnings = arena_array(q->head.arena, ret->warning_count + 1, sizeof *warnings);
    if (warnings == NULL)
        return; /* the arena has failed */
    for (uint32_t i = 0; i < ret->warning_count; i++)
        warnings[i] = ret->warnings[i];
    warnings[ret->warning_count++] = str_of(text);
    ret->warnings = warnings;
}

static struct str note_of(const struct wanted *wanted, struct arena *arena) {
    if (!wanted->inject)
        return STR("the entries for its spread are removed");
    return arena_printf(arena, "score s%u-%08x of evenkeel-%u%s", wanted->note.key.shard,
                        wanted->note.key.number, wanted->note.key.shard,
                        wanted->gate ? ", gated" : "");
}

static int edit(const struct placement_question *q, struct wanted *wanted, struct patch *patch,
                struct admission_outcome *ret, struct err *err) {
    const uint32_t before = patch->count;
    bool is_weak = false;
    int r = edit_predicates(q, wanted, patch, err);
    if (r == 0)
        r = edit_configurations(q, wanted, patch, &is_weak, err);
    if (r == 0)
        r = edit_annotation(q, wanted, patch, err);
    if (r != 0)
        return r;
    if (patch->count > before)
        ret->note = note_of(wanted, q->head.arena);
    if (is_weak)
        add_warning(q, ret, "spec.prioritizerPolicy: its own prioritizers may outweigh the spread");
    return 0;
}

/* Will OCM read `builtIn: Spread`, because the entry stays or is restored? */
static bool reads_spread(const struct placement_question *q, const struct wanted *wanted) {
    if (spread_weight_of(&q->shape) != 0)
        return true;
    for (uint32_t i = 0; i < q->shape.configuration_count; i++)
        if (q->shape.configurations[i].is_ours)
            return wanted->kept.weight != 0;
    return false;
}

static void warn_of_spread(const struct placement_question *q, const struct wanted *wanted,
                           struct admission_outcome *ret) {
    if (reads_spread(q, wanted))
        add_warning(q, ret,
                    "spec.prioritizerPolicy: Open Cluster Management does not know builtIn Spread, "
                    "and empties the decisions of a Placement that has it");
}

static void warn_of_no_scores(const struct placement_question *q, struct admission_outcome *ret) {
    if (placement_options(q)->owns)
        add_warning(
            q, ret,
            "spec.spreadPolicy: mode Scores is off here (ocm.scores): Open Cluster Management "
            "decides without its terms; with mode Owner, Evenkeel would decide with them");
}

/* OCM decides without hard terms until there is a leader. */
static void warn_of_waiting(const struct placement_question *q, const struct wanted *wanted,
                            struct admission_outcome *ret) {
    if (wanted->inject && !wanted->gate && is_hard(&q->terms) && !q->is_updated)
        add_warning(q, ret,
                    "spec.spreadPolicy: no replica of Evenkeel leads at the moment: Open Cluster "
                    "Management decides without its hard terms until a replica leads");
}

/* ---- modes ---- */

/* May OCM be made to leave the Placement alone? Our controller leaves Placements without terms,
 * with CEL or with an unknown mode to OCM; no controller would decide these. */
static bool may_give(const struct placement_question *q) {
    for (uint32_t i = 0; i < q->shape.predicate_count; i++)
        if (q->shape.predicates[i].expression_count > q->shape.predicates[i].ours)
            return false; /* our gates have been removed before */
    return !q->is_updated && q->terms.count > 0 && q->terms.unknown_mode.p == NULL &&
           placement_options(q)->owns;
}

/* Gives the Placement to our controller before OCM sees it. The controller removes both annotations
 * in the end. */
static int give_to_owner(const struct placement_question *q, struct patch *patch,
                         struct admission_outcome *ret, struct err *err) {
    if (!may_give(q))
        return 0;
    ret->note = STR("Open Cluster Management leaves it alone");
    int r = patch_add(patch, disable_path, 3, STR("\"true\""), err);
    return r == 0 ? patch_add(patch, disabled_path, 3, STR("\"true\""), err) : r;
}

static int run(const struct admission_question *question, struct patch *patch,
               struct admission_outcome *ret, struct err *err) {
    const struct placement_question *q = placement_question(question);
    const bool has_terms = q->terms.count > 0, injects = placement_options(q)->inject_scores;
    const enum placement_mode mode = mode_of(q);
    struct wanted wanted = {.kept = believe(q)};
    /* the controller edits a live Placement, which stays as it is while nobody publishes */
    if (has_terms && q->is_updated && !placement_options(q)->is_publisher &&
        (mode == PLACEMENT_OWNER || !injects))
        return 0;
    wanted.note = (struct injected){.valid = true, .key = wanted.kept.key};
    wanted.inject = mode == PLACEMENT_SCORES && has_terms && injects &&
                    q->terms.unknown_mode.p == NULL; /* no controller would publish its scores */
    wanted.gate = wanted.inject && is_hard(&q->terms) && may_gate(q, wanted.kept.key);
    int r = wanted.inject || shape_has_ours(&q->shape) ? edit(q, &wanted, patch, ret, err) : 0;
    warn_of_waiting(q, &wanted, ret);
    if (r == 0 && mode == PLACEMENT_OWNER)
        r = give_to_owner(q, patch, ret, err);
    else if (r == 0 && !wanted.inject)
        warn_of_spread(q, &wanted, ret);
    if (r == 0 && mode == PLACEMENT_SCORES && has_terms && !injects)
        warn_of_no_scores(q, ret);
    return r;
}

const struct admission_plugin placement_plugin_spread = {.name = "spread", .run = run};

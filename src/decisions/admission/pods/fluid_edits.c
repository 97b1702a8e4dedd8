#include "admission/pods/fluid_edits.h"

#include "base/limits.h"
#include "model/fluid.h"

#include <errno.h>
#include <stdio.h>

#define REQUIRED STR("requiredDuringSchedulingIgnoredDuringExecution")
#define PREFERRED STR("preferredDuringSchedulingIgnoredDuringExecution")
#define TERMS STR("nodeSelectorTerms")
#define EXPRESSIONS STR("matchExpressions")

enum {
    PATH_MAX_DEPTH = 8,
    SINGLE_MAX = 8, /* with more additions to required terms than this, a new list is written */
};

/* Collects changes; if memory runs out, the arena has failed. */
struct writing {
    const struct fluid_edits *edits;
    const struct pod_details *pod;
    struct arena *arena;
    struct patch_change *changes;
    uint32_t count, cap;
    bool too_large;
};

/* Moves the text to the arena; returns "" if there is no memory. */
static struct str take(struct writing *w, struct strbuf *text) {
    struct str taken = arena_str(w->arena, strbuf_str(text));
    if (strbuf_failed(text))
        w->arena->failed = true;
    strbuf_done(text);
    return taken;
}

static void change(struct writing *w, enum patch_op op, const struct str *path, uint32_t depth,
                   struct str value) {
    struct patch_change *grown = arena_push(w->arena, w->changes, w->count, &w->cap, sizeof *grown);
    struct str *kept = arena_array(w->arena, depth, sizeof *kept);
    if (grown == NULL || kept == NULL)
        return;
    memcpy(kept, path, depth * sizeof *kept);
    w->changes = grown;
    w->changes[w->count++] = (struct patch_change){op, kept, depth, value};
}

static struct str number(struct writing *w, uint32_t value) {
    char text[16];
    int n = snprintf(text, sizeof text, "%u", value);
    return arena_str(w->arena, (struct str){text, (size_t)n});
}

/* ---- the annotation, and mounts ---- */

static void annotate(struct writing *w) {
    const struct str path[] = {STR("metadata"), STR("annotations"), STR(FLUID_DATASETS_IN_USE)};
    struct strbuf text = {0};
    struct json_writer out = {.out = &text};
    if (str_empty(w->edits->datasets_in_use))
        return;
    json_put_string(&out, w->edits->datasets_in_use);
    change(w, PATCH_ADD, path, 3, take(w, &text));
}

static void propagate_mounts(struct writing *w) {
    for (uint32_t i = 0; w->edits->propagates != NULL && i < w->pod->mount_count; i++) {
        const struct pod_mount *mount = &w->pod->mounts[i];
        if (!w->edits->propagates[i])
            continue;
        const struct str path[] = {STR("spec"),
                                   mount->in_init_container ? STR("initContainers")
                                                            : STR("containers"),
                                   number(w, mount->container),
                                   STR("volumeMounts"),
                                   number(w, mount->mount),
                                   STR("mountPropagation")};
        change(w, PATCH_ADD, path, 6, STR("\"HostToContainer\""));
    }
}

/* ---- terms as text ---- */

static void put_requirement(struct json_writer *out, const struct label_expression *r) {
    json_begin_object(out);
    json_put_member(out, STR("key"), r->key);
    json_put_member(out, STR("operator"), r->op);
    if (r->value_count > 0) {
        json_key(out, STR("values"));
        json_begin_array(out);
        for (uint32_t i = 0; i < r->value_count; i++)
            json_put_string(out, r->values[i]);
        json_end_array(out);
    }
    json_end_object(out);
}

static void put_requirements(struct json_writer *out, const struct fluid_requirement *items,
                             uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        put_requirement(out, &items[i].is);
}

static void put_list(struct json_writer *out, const struct fluid_requirement *items,
                     uint32_t count) {
    json_begin_array(out);
    put_requirements(out, items, count);
    json_end_array(out);
}

/* Writes {"matchExpressions":[...]}. */
static void put_new_term(struct json_writer *out, const struct fluid_requirement *items,
                         uint32_t count) {
    json_begin_object(out);
    if (count > 0) {
        json_key(out, EXPRESSIONS);
        put_list(out, items, count);
    }
    json_end_object(out);
}

/* Fills a term whose list of requirements is empty or null: replaces the list. */
static void put_filled_term(struct json_writer *inner, const struct fluid_term *term) {
    struct str text = term->own->text, list = term->own->expressions_text;
    size_t before = (size_t)(list.p - text.p), behind = before + list.n;
    strbuf_append(inner->out, text.p, before);
    put_list(inner, term->added, term->added_count);
    strbuf_append(inner->out, text.p + behind, text.n - behind);
}

/* Adds the list to a term without one, before its other members. */
static void put_opened_term(struct json_writer *inner, const struct fluid_term *term) {
    struct str rest = {term->own->text.p + 1, term->own->text.n - 1};
    json_begin_object(inner);
    json_key(inner, EXPRESSIONS);
    put_list(inner, term->added, term->added_count);
    strbuf_append_str(inner->out, str_trim(rest).p[0] == '}' ? STR("") : STR(","));
    strbuf_append_str(inner->out, rest);
}

/* Writes the user's term with more requirements at the end. */
static void put_longer_term(struct json_writer *out, const struct fluid_term *term) {
    struct str text = term->own->text, list = term->own->expressions_text;
    struct json_writer inner = {.out = out->out};
    if (text.p[0] != '{') { /* null */
        put_new_term(out, term->added, term->added_count);
        return;
    }
    json_put_raw(out, STR("")); /* the comma before it */
    if (term->own->expression_count == 0 && !str_empty(list)) {
        put_filled_term(&inner, term);
    } else if (term->own->expression_count == 0) {
        put_opened_term(&inner, term);
    } else {
        size_t end = (size_t)(list.p + list.n - 1 - text.p); /* its last bracket */
        strbuf_append(out->out, text.p, end);
        inner.comma = true;
        put_requirements(&inner, term->added, term->added_count);
        strbuf_append(out->out, text.p + end, text.n - end);
    }
}

static void put_terms(struct json_writer *out, const struct fluid_edits *edits) {
    json_begin_array(out);
    for (uint32_t i = 0; i < edits->term_count; i++) {
        const struct fluid_term *term = &edits->terms[i];
        if (term->own == NULL)
            put_new_term(out, term->added, term->added_count);
        else if (term->added_count == 0)
            json_put_raw(out, term->own->text);
        else
            put_longer_term(out, term);
    }
    json_end_array(out);
}

static void put_preference(struct json_writer *out, const struct fluid_preference *p) {
    json_begin_object(out);
    json_key(out, STR("weight"));
    json_put_integer(out, p->weight);
    json_key(out, STR("preference"));
    put_new_term(out, &p->requirement, 1);
    json_end_object(out);
}

static void put_preferences(struct json_writer *out, const struct fluid_edits *edits) {
    json_begin_array(out);
    for (uint32_t i = 0; i < edits->preference_count; i++)
        put_preference(out, &edits->preferences[i]);
    json_end_array(out);
}

/* ---- node affinity ---- */

static const struct str node_affinity_path[] = {{"spec", 4}, {"affinity", 8}, {"nodeAffinity", 12}};
enum { NODE_AFFINITY_DEPTH = 3 };

/* Adds a change at node affinity, or `count` names below it. */
static void change_affinity(struct writing *w, enum patch_op op, const struct str *names,
                            uint32_t count, struct str value) {
    struct str path[PATH_MAX_DEPTH];
    memcpy(path, node_affinity_path, sizeof node_affinity_path);
    if (count > 0)
        memcpy(path + NODE_AFFINITY_DEPTH, names, count * sizeof *names);
    change(w, op, path, NODE_AFFINITY_DEPTH + count, value);
}

/* Writes the whole node affinity: the pod has none. */
static void write_affinity(struct writing *w) {
    const struct fluid_edits *edits = w->edits;
    struct strbuf text = {0};
    struct json_writer out = {.out = &text};
    if (!edits->requires && edits->preference_count == 0)
        return;
    json_begin_object(&out);
    if (edits->requires) {
        json_key(&out, REQUIRED);
        json_begin_object(&out);
        json_key(&out, TERMS);
        put_terms(&out, edits);
        json_end_object(&out);
    }
    if (edits->preference_count > 0) {
        json_key(&out, PREFERRED);
        put_preferences(&out, edits);
    }
    json_end_object(&out);
    change_affinity(w, PATCH_ADD, NULL, 0, take(w, &text));
}

/* Returns how many requirements the user's terms get; UINT32_MAX: terms differ in number or order.
 */
static uint32_t count_added(const struct writing *w) {
    const struct written_affinity *own = &w->pod->affinity;
    uint32_t added = 0;
    if (w->edits->term_count != own->term_count)
        return UINT32_MAX;
    for (uint32_t i = 0; i < own->term_count; i++) {
        if (w->edits->terms[i].own != &own->terms[i])
            return UINT32_MAX;
        added += w->edits->terms[i].added_count;
    }
    return added;
}

static void lengthen_term(struct writing *w, uint32_t index) {
    const struct fluid_term *term = &w->edits->terms[index];
    const struct str names[] = {REQUIRED, TERMS, number(w, index), EXPRESSIONS, STR("-")};
    struct strbuf text = {0};
    struct json_writer out = {.out = &text};
    if (term->added_count > 0 && term->own->expression_count == 0) {
        put_list(&out, term->added, term->added_count);
        change_affinity(w, PATCH_ADD, names, 4, take(w, &text));
        return;
    }
    for (uint32_t i = 0; i < term->added_count; i++) {
        out.comma = false;
        put_requirement(&out, &term->added[i].is);
        change_affinity(w, PATCH_ADD, names, 5, take(w, &text));
    }
}

/* Returns the bytes of the user's terms. A term counts once for each alternative that is added to
 * it, because it is written as many times. */
static size_t own_bytes(const struct fluid_edits *edits) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < edits->term_count; i++)
        if (edits->terms[i].own != NULL)
            bytes += edits->terms[i].own->text.n;
    return bytes;
}

static void require(struct writing *w) {
    const struct str names[] = {REQUIRED, TERMS};
    struct strbuf text = {0};
    struct json_writer out = {.out = &text};
    uint32_t added = count_added(w);
    if (added <= SINGLE_MAX) {
        for (uint32_t i = 0; i < w->edits->term_count; i++)
            lengthen_term(w, i);
        return;
    }
    w->too_large = own_bytes(w->edits) > LIMIT_PATCH_BYTES;
    if (w->too_large)
        return;
    put_terms(&out, w->edits);
    change_affinity(w, w->pod->affinity.term_count > 0 ? PATCH_REPLACE : PATCH_ADD, names, 2,
                    take(w, &text));
}

static void prefer(struct writing *w) {
    const struct str names[] = {PREFERRED, STR("-")};
    struct strbuf text = {0};
    struct json_writer out = {.out = &text};
    if (!w->pod->affinity.prefers) {
        put_preferences(&out, w->edits);
        change_affinity(w, PATCH_ADD, names, 1, take(w, &text));
        return;
    }
    for (uint32_t i = 0; i < w->edits->preference_count; i++) {
        out.comma = false;
        put_preference(&out, &w->edits->preferences[i]);
        change_affinity(w, PATCH_ADD, names, 2, take(w, &text));
    }
}

int fluid_edits_write(const struct fluid_edits *edits, const struct pod_details *pod,
                      struct patch *patch, struct err *err) {
    struct writing w = {.edits = edits, .pod = pod, .arena = patch->arena};
    annotate(&w);
    propagate_mounts(&w);
    if (!pod->affinity.present)
        write_affinity(&w);
    else {
        if (edits->requires)
            require(&w);
        if (edits->preference_count > 0)
            prefer(&w);
    }
    if (arena_failed(patch->arena))
        return err_set(err, -ENOMEM, "no memory to edit the pod");
    if (w.too_large)
        return err_set(err, -E2BIG, "the pod's node affinity would take more than %u KiB",
                       LIMIT_PATCH_BYTES >> 10);
    return patch_apply(patch, w.changes, w.count, err);
}

/*
 * Makes the bodies of writes in mode Scores.
 */
#include "base/json_fields.h"
#include "base/json_writer.h"
#include "hub/owned_internal.h"

#include <errno.h>
#include <stdlib.h>

#define SCORE_API OCM_GROUP "/v1alpha1"
enum { PATH_BYTES = 4096 }; /* memory for the names in a path */

/* ---- AddOnPlacementScores ---- */

static void begin_object(struct json_writer *w, struct str cluster, struct str resource) {
    json_begin_object(w);
    json_put_member(w, STR("apiVersion"), STR(SCORE_API));
    json_put_member(w, STR("kind"), str_of(watched_kinds[KIND_ADD_ON_PLACEMENT_SCORE].kind));
    json_key(w, STR("metadata"));
    json_begin_object(w);
    json_put_member(w, STR("name"), resource);
    json_put_member(w, STR("namespace"), cluster);
}

/* Ends an object to create; its status follows in the next write. */
static void put_created(struct json_writer *w) {
    json_key(w, STR("labels"));
    json_begin_object(w);
    json_put_member(w, STR(MANAGED_BY_LABEL), STR("evenkeel"));
    json_end_object(w);
    json_end_object(w);
    json_end_object(w);
}

static void put_item(struct json_writer *w, struct str name, int32_t value) {
    json_begin_object(w);
    json_put_member(w, STR("name"), name);
    json_key(w, STR("value"));
    json_put_integer(w, value);
    json_end_object(w);
}

static void begin_items(struct json_writer *w, const struct fleet_score_object *o) {
    begin_object(w, o->cluster, o->resource);
    json_put_member(w, STR("resourceVersion"), o->version);
    json_end_object(w);
    json_key(w, STR("status"));
    json_begin_object(w);
    json_key(w, STR("scores"));
    json_begin_array(w);
}

static void end_items(struct json_writer *w) {
    json_end_array(w);
    json_end_object(w);
    json_end_object(w);
}

static void put_object(struct owned_write *to, struct str cluster, struct str resource) {
    to->what = OWNED_SCORE;
    strbuf_append_str(&to->object, cluster);
    strbuf_append_char(&to->object, '/');
    strbuf_append_str(&to->object, resource);
}

int scored_write_removal(struct placement_round *x, const struct fleet_score_object *o,
                         const struct score_removal *removal) {
    struct owned_write *to = &x->ret->write;
    struct json_writer w = {.out = &to->body};
    if (!owned_put_path(x->arena, KIND_ADD_ON_PLACEMENT_SCORE, o->cluster, o->resource, to))
        return 0;
    strbuf_append_str(&to->path, STR("/status"));
    begin_items(&w, o);
    for (uint32_t i = 0; i < o->item_count; i++) {
        const struct fleet_score_item has = fleet_score_item(x->q->view, o, i);
        if (!removal->goes(removal->ctx, o->resource, has.name))
            put_item(&w, has.name, has.value);
    }
    end_items(&w);
    put_object(to, o->cluster, o->resource);
    to->verb = WRITE_MERGE;
    strbuf_append_str(&to->version, o->version);
    return strbuf_failed(&to->body) || strbuf_failed(&to->object)
               ? err_set(x->err, -ENOMEM, "no memory for a score")
               : 0;
}

int scored_write_item(struct placement_round *x, uint32_t slot, bool there) {
    struct owned_write *to = &x->ret->write;
    const struct injected_key key = x->ret->key;
    const struct str resource = arena_printf(x->arena, INJECTED_RESOURCE, key.shard);
    const struct str item = arena_printf(x->arena, INJECTED_SCORE, key.shard, key.number);
    put_object(to, ocm_cluster_name(&x->d, slot), resource);
    strbuf_append_str(&to->item, item);
    to->comes = there;
    return resource.n == 0 || item.n == 0 || strbuf_failed(&to->item) || strbuf_failed(&to->object)
               ? err_set(x->err, -ENOMEM, "no memory for a score")
               : 0;
}

/* ---- all wishes about one object ---- */

static int compare_wishes(const void *a, const void *b) {
    const struct score_wish *left = a, *right = b;
    return str_cmp(left->item, right->item);
}

static const struct score_wish *find_wish(const struct score_wish *wishes, uint32_t count,
                                          struct str item) {
    const struct score_wish wanted = {.item = item};
    return count > 0 ? bsearch(&wanted, wishes, count, sizeof *wishes, compare_wishes) : NULL;
}

/* Writes the whole list, as an apply or a replacement must, with the wishes' changes. Returns how
 * many items get another value or go. */
static uint32_t put_wishes(const struct fleet_view *v, const struct fleet_score_object *o,
                           const struct score_wish *wishes, uint32_t count, struct json_writer *w) {
    uint32_t changes = 0;
    for (uint32_t i = 0; i < o->item_count; i++) {
        const struct fleet_score_item has = fleet_score_item(v, o, i);
        const struct score_wish *wish = find_wish(wishes, count, has.name);
        if (wish == NULL)
            put_item(w, has.name, has.value);
        else
            changes += !wish->comes || has.value != OCM_PUBLISHED_SCORE;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!wishes[i].comes || (i > 0 && str_eq(wishes[i].item, wishes[i - 1].item)))
            continue;
        changes += !fleet_score_has(v, o, wishes[i].item);
        put_item(w, wishes[i].item, OCM_PUBLISHED_SCORE);
    }
    return changes;
}

static bool any_goes(const struct score_wish *wishes, uint32_t count) {
    bool any = false;
    for (uint32_t i = 0; i < count; i++)
        any = any || !wishes[i].comes;
    return any;
}

bool scored_make_write(const struct fleet_view *v, struct str object, struct score_wish *wishes,
                       uint32_t count, struct owned_write *to) {
    CLEANUP(arena_done) struct arena arena;
    const size_t slash = str_find(object, '/');
    const struct str cluster = {object.p, slash},
                     resource = {object.p + slash + 1, object.n - slash - 1};
    struct json_writer w = {.out = &to->body};
    struct fleet_score_object o;
    uint32_t changes = 1;
    arena_init(&arena, PATH_BYTES);
    const bool exists = fleet_score_object(v, cluster, resource, &o);
    if (!owned_put_path(&arena, KIND_ADD_ON_PLACEMENT_SCORE, cluster, exists ? resource : STR(""),
                        to))
        return false;
    if (exists) {
        qsort(wishes, count, sizeof *wishes, compare_wishes);
        strbuf_append_str(&to->path, STR("/status"));
        begin_items(&w, &o);
        changes = put_wishes(v, &o, wishes, count, &w);
        end_items(&w);
    } else {
        begin_object(&w, cluster, resource);
        put_created(&w);
    }
    /* WRITE_APPLY does not remove an item that we did not apply, or that others own, too */
    to->verb = !exists ? WRITE_CREATE : any_goes(wishes, count) ? WRITE_MERGE : WRITE_APPLY;
    if (exists)
        strbuf_append_str(&to->version, o.version);
    return changes > 0 && !strbuf_failed(&to->body) && !strbuf_failed(&to->version);
}

/* ---- the Placement ---- */

/* The parts of a Placement that the webhook's edits may change. */
struct edited {
    bool has_policy;
    struct str mode, configurations, predicates; /* JSON; "": not there */
    struct str annotation;                       /* .p NULL: not there */
};

static const struct json_field annotation_fields[] = {
    JSON_TEXT(PLACEMENT_INJECTED_ANNOTATION, struct edited, annotation),
};
static const struct json_field metadata_fields[] = {
    JSON_WITHIN("annotations", annotation_fields),
};
static const struct json_field policy_fields[] = {
    JSON_RAW("mode", struct edited, mode),
    JSON_RAW("configurations", struct edited, configurations),
};
static const struct json_field spec_fields[] = {
    JSON_WITHIN_GIVEN("prioritizerPolicy", policy_fields, struct edited, has_policy),
    JSON_RAW("predicates", struct edited, predicates),
};
static const struct json_field placement_fields[] = {
    JSON_WITHIN("metadata", metadata_fields),
    JSON_WITHIN("spec", spec_fields),
};

static int read_document(struct placement_round *x, struct str document, struct edited *ret) {
    struct json_reader r;
    *ret = (struct edited){.annotation = {0}};
    json_reader_init(&r, document, x->arena, PLACEMENT_KIND);
    json_fields(&r, &JSON_ROWS(placement_fields), ret);
    return json_finish(&r, x->err);
}

static void put_or_null(struct json_writer *w, struct str key, struct str json) {
    json_key(w, key);
    if (json.n > 0)
        json_put_raw(w, json);
    else
        json_put_null(w);
}

static void put_policy(const struct edited *e, struct json_writer *w) {
    json_key(w, STR("prioritizerPolicy"));
    if (!e->has_policy) {
        json_put_null(w);
        return;
    }
    json_begin_object(w);
    put_or_null(w, STR("mode"), e->mode);
    put_or_null(w, STR("configurations"), e->configurations);
    json_end_object(w);
}

/* Writes a merge patch for exactly this version, because it replaces whole lists. */
static void put_injection(struct placement_round *x, const struct edited *e,
                          struct json_writer *w) {
    json_begin_object(w);
    json_key(w, STR("metadata"));
    json_begin_object(w);
    json_put_member(w, STR("resourceVersion"), x->is.state.version);
    json_key(w, STR("annotations"));
    json_begin_object(w);
    json_key(w, STR(PLACEMENT_INJECTED_ANNOTATION));
    if (e->annotation.p != NULL)
        json_put_string(w, e->annotation);
    else
        json_put_null(w);
    json_end_object(w);
    json_end_object(w);
    json_key(w, STR("spec"));
    json_begin_object(w);
    put_policy(e, w);
    put_or_null(w, STR("predicates"), e->predicates);
    json_end_object(w);
    json_end_object(w);
}

int scored_write_injection(struct placement_round *x, struct str document) {
    struct owned_write *to = &x->ret->write;
    struct json_writer w = {.out = &to->body};
    struct edited edited;
    int r = read_document(x, document, &edited);
    if (r != 0)
        return r;
    if (!owned_put_path(x->arena, KIND_PLACEMENT, x->q->namespace, x->q->name, to))
        return 0;
    put_injection(x, &edited, &w);
    to->what = OWNED_INJECTION;
    to->verb = WRITE_MERGE;
    strbuf_append_str(&to->version, x->is.state.version);
    return strbuf_failed(&to->body) ? err_set(x->err, -ENOMEM, "no memory for a Placement") : 0;
}

/*
 * Makes the bodies of writes.
 */
#include "hub/owned_internal.h"
#include "hub/placement_status.h"

#include "base/hash.h"
#include "base/json_writer.h"
#include "kube/client/path.h"
#include "model/kinds.h"

#include <errno.h>

void owned_put_name(struct strbuf *names, struct str name) {
    strbuf_append_str(names, name);
    strbuf_append_char(names, '\0');
}

bool owned_put_path(struct arena *arena, enum kind_row row, struct str namespace, struct str name,
                    struct owned_write *w) {
    if (!kube_path_segment(namespace) || (name.n > 0 && !kube_path_segment(name)))
        return false;
    const char *scope = arena_cstr(arena, namespace);
    const char *last = arena_cstr(arena, name.n > 0 ? name : STR("x"));
    if (scope == NULL || last == NULL)
        return false; /* the arena has failed */
    kind_object_path(&watched_kinds[row], scope, last, &w->path);
    if (name.n == 0 && w->path.n > 2)
        w->path.n -= 2;
    return true;
}

static bool put_path(struct placement_round *x, enum kind_row row, struct str name,
                     struct owned_write *w) {
    return owned_put_path(x->arena, row, x->q->namespace, name, w);
}

static void begin_metadata(struct json_writer *w, struct str version) {
    json_key(w, STR("metadata"));
    json_begin_object(w);
    if (version.n > 0)
        json_put_member(w, STR("resourceVersion"), version);
}

/* ---- the Placement ---- */

static void put_annotation(struct json_writer *w, struct str key, bool set) {
    json_key(w, key);
    if (set)
        json_put_string(w, STR("true"));
    else
        json_put_null(w);
}

void owned_write_annotations(struct placement_round *x, bool disable) {
    struct owned_write *to = &x->ret->write;
    struct json_writer w = {.out = &to->body};
    if (!put_path(x, KIND_PLACEMENT, x->q->name, to))
        return;
    to->what = OWNED_ANNOTATIONS;
    to->verb = WRITE_MERGE;
    strbuf_append_str(&to->version, x->is.state.version);
    json_begin_object(&w);
    begin_metadata(&w, x->is.state.version);
    json_key(&w, STR("annotations"));
    json_begin_object(&w);
    put_annotation(&w, STR(PLACEMENT_DISABLE_ANNOTATION), disable);
    put_annotation(&w, STR(PLACEMENT_DISABLED_ANNOTATION), disable);
    json_end_object(&w);
    json_end_object(&w);
    json_end_object(&w);
}

static const struct ocm_condition *find_spread(const struct status_wanted *wanted) {
    for (uint32_t i = 0; i < wanted->condition_count; i++)
        if (str_eq(wanted->conditions[i].type, owned_spread_condition))
            return &wanted->conditions[i];
    return NULL;
}

/* Warns once, when the condition is to be written: a new leader finds it written. */
static void warn_of_key(struct placement_round *x, const struct ocm_condition *c, bool writes) {
    const bool unknown = str_eq(c->reason, ocm_spread_reason_names[OCM_SPREAD_KEY_UNKNOWN]);
    if (unknown && writes && !x->o->warned)
        x->ret->warning = c->message;
    x->o->warned = unknown;
}

int owned_write_status(struct placement_round *x, const struct status_wanted *wanted) {
    struct owned_write *to = &x->ret->write;
    const struct ocm_condition *spread = find_spread(wanted);
    int r = status_patch(x->is.state.status, x->is.state.version, wanted, x->q->wall_ms, x->arena,
                         &to->body, x->err);
    if (r == 0 && spread != NULL) {
        x->ret->skewed = spread->status == OCM_FALSE;
        warn_of_key(x, spread, to->body.n > 0);
    }
    if (r != 0 || to->body.n == 0)
        return r;
    if (!put_path(x, KIND_PLACEMENT, x->q->name, to))
        return 0;
    strbuf_append_str(&to->path, STR("/status"));
    to->what = OWNED_STATUS;
    to->verb = WRITE_MERGE;
    strbuf_append_str(&to->version, x->is.state.version);
    return 0;
}

/* ---- PlacementDecisions ---- */

static void put_labels(struct placement_round *x, const struct layout_object *o,
                       struct json_writer *w) {
    json_key(w, STR("labels"));
    json_begin_object(w);
    json_put_member(w, STR(PLACEMENT_LABEL), x->q->name);
    json_put_member(w, STR(PLACEMENT_GROUP_INDEX_LABEL), arena_printf(x->arena, "%u", o->group));
    json_put_member(w, STR(PLACEMENT_GROUP_NAME_LABEL), x->target.groups[o->group].name);
    json_end_object(w);
}

static void put_owner(struct placement_round *x, struct json_writer *w) {
    const struct watched_kind *kind = &watched_kinds[KIND_PLACEMENT];
    json_key(w, STR("ownerReferences"));
    json_begin_array(w);
    json_begin_object(w);
    json_put_member(w, STR("apiVersion"), STR(OCM_GROUP "/v1beta1"));
    json_put_member(w, STR("kind"), str_of(kind->kind));
    json_put_member(w, STR("name"), x->q->name);
    json_put_member(w, STR("uid"), x->is.placement.meta.uid);
    json_key(w, STR("controller"));
    json_put_bool(w, true);
    json_key(w, STR("blockOwnerDeletion"));
    json_put_bool(w, true);
    json_end_object(w);
    json_end_array(w);
}

static void put_created(struct placement_round *x, const struct layout_object *o,
                        struct json_writer *w) {
    const struct watched_kind *kind = &watched_kinds[KIND_PLACEMENT_DECISION];
    json_put_member(w, STR("apiVersion"), STR(OCM_GROUP "/v1beta1"));
    json_put_member(w, STR("kind"), str_of(kind->kind));
    begin_metadata(w, STR(""));
    json_put_member(w, STR("name"), o->name);
    json_put_member(w, STR("namespace"), x->q->namespace);
    put_labels(x, o, w);
    put_owner(x, w);
    json_end_object(w);
}

static void put_meta(struct placement_round *x, const struct layout_write *write,
                     struct json_writer *w) {
    begin_metadata(w, write->existing->version);
    put_labels(x, write->object, w);
    put_owner(x, w);
    json_end_object(w);
}

/* The inputs of reasons. */
struct reasons {
    struct placement_round *x;
    struct topology_column columns[PLACEMENT_TERMS];
    uint8_t *kept; /* [slots] */
    struct strbuf text;
};

static int begin_reasons(struct placement_round *x, struct reasons *ret) {
    const struct plan *plan = &x->d.plan;
    int r = 0;
    *ret = (struct reasons){.x = x, .kept = arena_alloc(x->arena, x->is.slots)};
    for (uint32_t t = 0; r == 0 && t < x->d.term_count; t++)
        r = ocm_term_column(&x->q->view->clusters, &x->d.terms[t], x->arena, &ret->columns[t]);
    for (uint32_t i = 0; ret->kept != NULL && i < plan->kept_count; i++)
        ret->kept[ocm_plan_kept(plan)[i]] = 1;
    return r == 0 && ret->kept == NULL ? -ENOMEM : r;
}

/* Makes "spread by region=us-east, zone=1a", from the cluster's domain, or "kept: zone=1a is above
 * maxSkew 1: a member stays". */
static struct str make_reason(struct reasons *s, uint32_t slot) {
    const struct ocm_decision *d = &s->x->d;
    strbuf_clear(&s->text);
    if (s->kept[slot] != 0) {
        strbuf_append_str(&s->text, STR("kept: "));
        ocm_kept_reason(d, slot, s->x->arena, &s->text);
        return strbuf_str(&s->text);
    }
    strbuf_append_str(&s->text, STR("spread by "));
    for (uint32_t t = 0; t < d->term_count; t++) {
        const uint32_t domain = s->columns[t].domain_of[slot];
        strbuf_append_str(&s->text, t > 0 ? STR(", ") : STR(""));
        strbuf_append_str(&s->text, d->terms[t].key);
        strbuf_append_char(&s->text, '=');
        if (domain != TOPOLOGY_NONE)
            strbuf_append_str(&s->text,
                              topology_value(&s->x->q->view->clusters, &s->columns[t], domain));
    }
    return strbuf_str(&s->text);
}

static int end_reasons(struct reasons *s) {
    const bool failed = strbuf_failed(&s->text);
    strbuf_done(&s->text);
    return failed ? -ENOMEM : 0;
}

int owned_find_reasons(struct placement_round *x, const struct layout *layout,
                       const struct layout_object **ret, uint64_t *ret_wanted) {
    struct reasons s;
    int r = begin_reasons(x, &s);
    *ret = NULL;
    *ret_wanted = 0;
    for (uint32_t i = 0; r == 0 && i < layout->count; i++) {
        const struct layout_object *o = &layout->objects[i];
        uint64_t wanted = 0;
        if (!steps_take(&x->arena->steps, (uint64_t)o->count * x->d.term_count))
            r = -E2BIG;
        for (uint32_t k = 0; r == 0 && k < o->count; k++)
            wanted = placement_reasons_add(wanted, make_reason(&s, o->slots[k]));
        if (*ret == NULL && wanted != o->existing->reasons)
            *ret = o;
        *ret_wanted = hash_mix(*ret_wanted, wanted);
    }
    const int failed = end_reasons(&s);
    return r == 0 ? failed : r;
}

static int put_clusters(struct placement_round *x, const struct layout_write *write,
                        struct json_writer *w) {
    struct reasons s;
    int r = begin_reasons(x, &s);
    begin_metadata(w, write->existing->version);
    json_end_object(w);
    json_key(w, STR("status"));
    json_begin_object(w);
    json_key(w, STR("decisions"));
    json_begin_array(w);
    for (uint32_t i = 0; r == 0 && i < write->count; i++) {
        json_begin_object(w);
        json_put_member(w, STR("clusterName"), ocm_cluster_name(&x->d, write->slots[i]));
        json_put_member(w, STR("reason"), make_reason(&s, write->slots[i]));
        json_end_object(w);
    }
    json_end_array(w);
    json_end_object(w);
    const int failed = end_reasons(&s);
    return r == 0 ? failed : r;
}

/* Deletes only the version that was seen. upstream: apimachinery meta/v1 DeleteOptions. */
static void put_deletion(const struct layout_write *write, struct json_writer *w) {
    json_put_member(w, STR("apiVersion"), STR("v1"));
    json_put_member(w, STR("kind"), STR("DeleteOptions"));
    json_key(w, STR("preconditions"));
    json_begin_object(w);
    json_put_member(w, STR("resourceVersion"), write->existing->version);
    json_end_object(w);
}

/* Appends the names of the clusters that the object surely holds: they are in it now, stay in it
 * after this write, and are in `doubtful`, if an earlier write is in doubt. */
static int put_contents(struct placement_round *x, const struct layout_write *write,
                        const struct layout_doubt *doubtful, struct strbuf *out) {
    const struct fleet_decision *d = write->existing;
    uint8_t *after = arena_alloc(x->arena, x->is.slots), *sure = arena_alloc(x->arena, x->is.slots);
    if (after == NULL || sure == NULL)
        return -ENOMEM;
    const bool same = write->verb == LAYOUT_META;
    for (uint32_t i = 0; i < write->count; i++)
        after[write->slots[i]] = 1;
    for (uint32_t i = 0; doubtful != NULL && i < doubtful->count; i++)
        sure[doubtful->slots[i]] = 1;
    for (uint32_t i = 0; d != NULL && i < d->slot_count; i++) {
        const uint32_t slot = d->slots[i];
        if ((same || after[slot] != 0) && (doubtful == NULL || sure[slot] != 0))
            owned_put_name(out, ocm_cluster_name(&x->d, slot));
    }
    return 0;
}

static enum write_verb put_body(struct placement_round *x, const struct layout_write *write,
                                struct json_writer *w, int *r) {
    switch (write->verb) {
    case LAYOUT_CREATE:
        put_created(x, write->object, w);
        return WRITE_CREATE;
    case LAYOUT_META:
        put_meta(x, write, w);
        return WRITE_MERGE;
    case LAYOUT_CLUSTERS:
        *r = put_clusters(x, write, w);
        return WRITE_MERGE;
    case LAYOUT_DELETE:
        put_deletion(write, w);
        return WRITE_DELETE;
    case LAYOUT_RIGHT:
        break;
    }
    return WRITE_NOTHING;
}

int owned_write_decision(struct placement_round *x, const struct layout_write *write,
                         const struct layout_doubt *doubtful) {
    struct owned_write *to = &x->ret->write;
    struct json_writer w = {.out = &to->body};
    const struct str object =
        write->verb == LAYOUT_DELETE ? write->existing->name : write->object->name;
    int r = 0;
    if (!put_path(x, KIND_PLACEMENT_DECISION, write->verb == LAYOUT_CREATE ? STR("") : object, to))
        return 0;
    if (write->verb == LAYOUT_CLUSTERS)
        strbuf_append_str(&to->path, STR("/status"));
    json_begin_object(&w);
    to->verb = put_body(x, write, &w, &r);
    json_end_object(&w);
    to->what = OWNED_DECISION;
    strbuf_append_str(&to->object, object);
    if (write->existing != NULL)
        strbuf_append_str(&to->version, write->existing->version);
    if (r == 0)
        r = put_contents(x, write, doubtful, &to->contents);
    if (r == 0 && (strbuf_failed(&to->body) || strbuf_failed(&to->contents)))
        r = -ENOMEM;
    return r == 0 ? 0 : err_set(x->err, r, "no memory for a PlacementDecision");
}

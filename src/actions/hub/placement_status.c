#include "hub/placement_status.h"

#include "base/json_fields.h"
#include "base/json_writer.h"
#include "base/time.h"

#include <errno.h>
#include <stdio.h>

/* ---- the present status ---- */

struct known_condition {
    struct str type, status, reason, message, changed_at;
    struct str json;
};

struct known_group {
    int64_t index, clusters;
    struct str name;
    struct str *objects;
    uint32_t object_count;
};

struct known_status {
    int64_t selected; /* -1: not given */
    struct known_condition *conditions;
    uint32_t condition_count;
    struct known_group *groups;
    uint32_t group_count;
};

static void read_condition(struct json_reader *r, void *into) {
    static const struct json_field fields[] = {
        JSON_TEXT("type", struct known_condition, type),
        JSON_TEXT("status", struct known_condition, status),
        JSON_TEXT("reason", struct known_condition, reason),
        JSON_TEXT("message", struct known_condition, message),
        JSON_TEXT("lastTransitionTime", struct known_condition, changed_at)};
    struct known_condition *c = into;
    const char *from;
    (void)json_peek(r); /* leaves the blanks behind */
    from = r->p;
    json_fields(r, &JSON_ROWS(fields), c);
    c->json = (struct str){from, (size_t)(r->p - from)};
}

static void read_group(struct json_reader *r, void *into) {
    struct known_group *g = into;
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("decisionGroupIndex")))
            g->index = json_integer(r, INT32_MIN, INT32_MAX);
        else if (str_eq(key, STR("clusterCount")))
            g->clusters = json_integer(r, INT32_MIN, INT32_MAX);
        else if (str_eq(key, STR("decisionGroupName")))
            g->name = json_string(r);
        else if (str_eq(key, STR("decisions")))
            g->objects = json_string_array(r, UINT32_MAX, &g->object_count);
    }
}

static void read_status(struct json_reader *r, struct known_status *ret) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("numberOfSelectedClusters")))
            ret->selected = json_integer(r, INT32_MIN, INT32_MAX);
        else if (str_eq(key, STR("conditions")))
            ret->conditions = json_array_of(r, sizeof *ret->conditions, UINT32_MAX, read_condition,
                                            &ret->condition_count);
        else if (str_eq(key, STR("decisionGroups")))
            ret->groups =
                json_array_of(r, sizeof *ret->groups, UINT32_MAX, read_group, &ret->group_count);
    }
}

static int read_known(struct str json, struct arena *arena, struct known_status *ret,
                      struct err *err) {
    struct json_reader r;
    *ret = (struct known_status){.selected = -1};
    if (json.n == 0)
        return 0;
    json_reader_init(&r, json, arena, "Placement.status");
    read_status(&r, ret);
    return json_finish(&r, err);
}

/* ---- is the status right? ---- */

static const struct known_condition *find_known(const struct known_status *known, struct str type) {
    for (uint32_t i = 0; i < known->condition_count; i++)
        if (str_eq(known->conditions[i].type, type))
            return &known->conditions[i];
    return NULL;
}

static const struct ocm_condition *find_wanted(const struct status_wanted *wanted,
                                               struct str type) {
    for (uint32_t i = 0; i < wanted->condition_count; i++)
        if (str_eq(wanted->conditions[i].type, type))
            return &wanted->conditions[i];
    return NULL;
}

static bool conditions_are_right(const struct known_status *known,
                                 const struct status_wanted *wanted) {
    for (uint32_t i = 0; i < wanted->condition_count; i++) {
        const struct ocm_condition *c = &wanted->conditions[i];
        const struct known_condition *k = find_known(known, c->type);
        if (k == NULL || !str_eq(k->status, ocm_status_names[c->status]) ||
            !str_eq(k->reason, c->reason) || !str_eq(k->message, c->message))
            return false;
    }
    return wanted->without.n == 0 || find_known(known, wanted->without) == NULL;
}

int status_find(struct str json, struct str type, struct arena *arena, struct status_condition *ret,
                struct err *err) {
    struct known_status known;
    int r = read_known(json, arena, &known, err);
    const struct known_condition *k = r == 0 ? find_known(&known, type) : NULL;
    *ret = (struct status_condition){STR(""), STR(""), STR("")};
    if (k != NULL)
        *ret = (struct status_condition){k->status, k->reason, k->message};
    return r;
}

int status_selected(struct str json, struct arena *arena, int64_t *ret, struct err *err) {
    struct known_status known;
    int r = read_known(json, arena, &known, err);
    *ret = r == 0 ? known.selected : -1;
    return r;
}

int status_denies(struct str json, const struct ocm_condition *condition, struct arena *arena,
                  bool *ret, struct err *err) {
    struct status_condition k;
    int r = status_find(json, condition->type, arena, &k, err);
    *ret = k.status.n > 0 && !str_eq(k.status, ocm_status_names[OCM_UNKNOWN]) &&
           (!str_eq(k.status, ocm_status_names[condition->status]) ||
            !str_eq(k.reason, condition->reason));
    return r;
}

static bool group_is_right(const struct known_group *k, const struct status_group *g,
                           uint32_t index) {
    if (k->index != index || !str_eq(k->name, g->name) || k->clusters != g->cluster_count ||
        k->object_count != g->object_count)
        return false;
    for (uint32_t i = 0; i < g->object_count; i++)
        if (!str_eq(k->objects[i], g->objects[i]))
            return false;
    return true;
}

static bool decision_is_right(const struct known_status *known,
                              const struct status_wanted *wanted) {
    if (!wanted->has_decision)
        return true;
    if (known->selected != wanted->selected || known->group_count != wanted->group_count)
        return false;
    for (uint32_t i = 0; i < wanted->group_count; i++)
        if (!group_is_right(&known->groups[i], &wanted->groups[i], i))
            return false;
    return true;
}

/* ---- the patch ---- */

static void put_integer(struct json_writer *w, struct str key, int64_t value) {
    json_key(w, key);
    json_put_integer(w, value);
}

static void put_condition(struct json_writer *w, const struct ocm_condition *c,
                          const struct known_condition *known, struct str now) {
    const struct str status = ocm_status_names[c->status];
    const bool same = known != NULL && str_eq(known->status, status) && known->changed_at.n > 0;
    json_begin_object(w);
    json_put_member(w, STR("type"), c->type);
    json_put_member(w, STR("status"), status);
    json_put_member(w, STR("reason"), c->reason);
    json_put_member(w, STR("message"), c->message);
    json_put_member(w, STR("lastTransitionTime"), same ? known->changed_at : now);
    json_end_object(w);
}

/* Writes the present conditions in their order, then new ones. */
static void put_conditions(struct json_writer *w, const struct known_status *known,
                           const struct status_wanted *wanted, struct str now) {
    json_key(w, STR("conditions"));
    json_begin_array(w);
    for (uint32_t i = 0; i < known->condition_count; i++) {
        const struct known_condition *k = &known->conditions[i];
        const struct ocm_condition *c = find_wanted(wanted, k->type);
        if (c != NULL)
            put_condition(w, c, k, now);
        else if (wanted->without.n == 0 || !str_eq(k->type, wanted->without))
            json_put_raw(w, k->json);
    }
    for (uint32_t i = 0; i < wanted->condition_count; i++)
        if (find_known(known, wanted->conditions[i].type) == NULL)
            put_condition(w, &wanted->conditions[i], NULL, now);
    json_end_array(w);
}

static void put_decision(struct json_writer *w, const struct status_wanted *wanted) {
    put_integer(w, STR("numberOfSelectedClusters"), wanted->selected);
    json_key(w, STR("decisionGroups"));
    json_begin_array(w);
    for (uint32_t i = 0; i < wanted->group_count; i++) {
        const struct status_group *g = &wanted->groups[i];
        json_begin_object(w);
        put_integer(w, STR("decisionGroupIndex"), i);
        json_put_member(w, STR("decisionGroupName"), g->name);
        json_key(w, STR("decisions"));
        json_begin_array(w);
        for (uint32_t k = 0; k < g->object_count; k++)
            json_put_string(w, g->objects[k]);
        json_end_array(w);
        put_integer(w, STR("clusterCount"), g->cluster_count);
        json_end_object(w);
    }
    json_end_array(w);
}

int status_patch(struct str json, struct str version, const struct status_wanted *wanted,
                 int64_t now_ms, struct arena *arena, struct strbuf *out, struct err *err) {
    struct known_status known;
    int failed = read_known(json, arena, &known, err);
    if (failed != 0)
        return failed;
    if (decision_is_right(&known, wanted) && conditions_are_right(&known, wanted))
        return 0;
    char now[KUBE_TIME_SIZE];
    kube_time_text(now_ms * 1000, now);
    (void)snprintf(now + 19, sizeof now - 19, "Z"); /* metav1.Time has whole seconds */
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_key(&w, STR("metadata"));
    json_begin_object(&w);
    json_put_member(&w, STR("resourceVersion"), version);
    json_end_object(&w);
    json_key(&w, STR("status"));
    json_begin_object(&w);
    if (wanted->has_decision)
        put_decision(&w, wanted);
    put_conditions(&w, &known, wanted, str_of(now));
    json_end_object(&w);
    json_end_object(&w);
    return strbuf_failed(out) ? err_set(err, -ENOMEM, "no memory for a Placement's status") : 0;
}

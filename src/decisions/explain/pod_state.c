#include "explain/pod_state.h"

#include "base/json_fields.h"
#include "model/names.h"

#include <stddef.h>

static void gate_item(struct json_reader *r, void *into) {
    static const struct json_field name = JSON_TEXT_ALONE("name");
    json_fields(r, &(const struct json_rows){&name, 1}, into);
}

static void spec_decode(struct json_reader *r, struct pod_state *s) {
    struct str key;
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("nodeName")))
                s->node = json_string(r);
            else if (str_eq(key, STR("schedulerName")))
                s->scheduler = json_string(r);
            else if (str_eq(key, STR("schedulingGates")))
                s->gates = json_array_of(r, sizeof *s->gates, LIMIT_EXPLAINED_GATES, gate_item,
                                         &s->gate_count);
        }
}

struct condition {
    struct str type, status, reason, message, since;
};

static void conditions_decode(struct json_reader *r, struct pod_state *s) {
    static const struct json_field fields[] = {
        JSON_TEXT("type", struct condition, type), JSON_TEXT("status", struct condition, status),
        JSON_TEXT("reason", struct condition, reason),
        JSON_TEXT("message", struct condition, message),
        JSON_TEXT("lastTransitionTime", struct condition, since)};
    if (json_array(r))
        while (json_element(r)) {
            struct condition c = {0};
            json_fields(r, &JSON_ROWS(fields), &c);
            if (!str_eq(c.type, STR("PodScheduled")))
                continue;
            s->status = c.status;
            s->reason = c.reason;
            s->message = c.message;
            s->since = c.since;
        }
}

static void status_decode(struct json_reader *r, struct pod_state *s) {
    struct str key;
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("phase")))
                s->phase = json_string(r);
            else if (str_eq(key, STR("nominatedNodeName")))
                s->nominated_node = json_string(r);
            else if (str_eq(key, STR("conditions")))
                conditions_decode(r, s);
        }
}

int pod_state_decode(struct str text, struct arena *arena, struct pod_state *ret, struct err *err) {
    static const struct json_field meta[] = {
        JSON_TEXT("namespace", struct pod_state, namespace),
        JSON_TEXT("name", struct pod_state, name), JSON_TEXT("uid", struct pod_state, uid),
        JSON_TEXT("creationTimestamp", struct pod_state, created),
        JSON_TEXT("deletionTimestamp", struct pod_state, deleted)};
    struct json_reader r;
    struct str key;
    *ret = (struct pod_state){0};
    json_reader_init(&r, text, arena, POD_KIND);
    if (json_object(&r))
        while (json_member(&r, &key)) {
            if (str_eq(key, STR("metadata")))
                json_fields(&r, &JSON_ROWS(meta), ret);
            else if (str_eq(key, STR("spec")))
                spec_decode(&r, ret);
            else if (str_eq(key, STR("status")))
                status_decode(&r, ret);
        }
    return json_finish(&r, err);
}

bool pod_state_is_pending(const struct pod_state *s) {
    return str_empty(s->node) && str_empty(s->deleted) &&
           (str_empty(s->phase) || str_eq(s->phase, STR("Pending")));
}

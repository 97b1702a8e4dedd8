#include "cli/own_admission.h"

#include "base/json_fields.h"
#include "base/timestamp.h"
#include "explain/pod_state.h"
#include "explain/question.h"

/* The longest time between an admission and the pod's creationTimestamp, which has whole seconds.
 * It is the longest timeout of a webhook; clocks may differ a little. */
enum { APART_MS = 30000 };

int created_pod_read(struct str text, struct arena *arena, struct created_pod *ret,
                     struct err *err) {
    struct pod_state state;
    struct pod pod;
    *ret = (struct created_pod){0};
    if (str_empty(text))
        return 0;
    int r = pod_state_decode(text, arena, &state, err);
    if (r != 0 || !timestamp_parse(state.created, &ret->created_ms))
        return r;
    r = explain_pod_decode(text, arena, &pod, err);
    if (r != 0)
        return r;
    ret->constraints = pod.constraints;
    ret->constraint_count = pod.constraint_count;
    ret->is_known = true;
    return 0;
}

static bool has(const struct created_pod *pod, const struct spread_constraint *c) {
    for (uint32_t i = 0; i < pod->constraint_count; i++) {
        const struct spread_constraint *own = &pod->constraints[i];
        if (str_eq(own->topology_key, c->topology_key))
            return own->max_skew == c->max_skew && own->hard == c->hard;
    }
    return false;
}

/* Does the pod have the constraints of `value`, the text of one constraint or of an array? True for
 * a text that was cut. */
static bool has_value(const struct created_pod *pod, struct str value, struct arena *arena) {
    struct json_reader r;
    struct spread_constraint one = {0};
    uint32_t count = 1;
    json_reader_init(&r, value, arena, "patch");
    const struct spread_constraint *added = &one;
    if (json_peek(&r) == JSON_OBJECT)
        spread_constraint_decode(&r, &one);
    else
        added = spread_constraints_decode(&r, &count);
    bool all = true;
    for (uint32_t i = 0; !json_failed(&r) && i < count; i++)
        all = all && has(pod, &added[i]);
    return all;
}

struct operation {
    struct str path, value;
};

static bool has_patch(const struct created_pod *pod, struct str patch, struct arena *arena) {
    static const struct json_field fields[] = {JSON_TEXT("path", struct operation, path),
                                               JSON_TEXT("value", struct operation, value)};
    struct json_reader r;
    bool all = true;
    if (str_empty(patch))
        return true;
    json_reader_init(&r, patch, arena, "patch");
    if (json_array(&r))
        while (json_element(&r)) {
            struct operation o = {0};
            json_fields(&r, &JSON_ROWS(fields), &o);
            if (str_has_prefix(o.path, STR("/spec/topologySpreadConstraints")) &&
                !str_empty(o.value))
                all = all && has_value(pod, o.value, arena);
        }
    return all;
}

enum own_admission own_admission_of(const struct created_pod *pod, struct str decision,
                                    struct arena *arena) {
    struct admission {
        struct str verb, name, time, patch;
    } a = {.verb = {0}};
    static const struct json_field fields[] = {
        JSON_TEXT("verb", struct admission, verb), JSON_TEXT("name", struct admission, name),
        JSON_TEXT("time", struct admission, time), JSON_RAW("patch", struct admission, patch)};
    struct json_reader r;
    int64_t at_ms;
    json_reader_init(&r, decision, arena, "decision");
    json_fields(&r, &JSON_ROWS(fields), &a);
    if (json_failed(&r) || !str_eq(a.verb, STR("admit")))
        return ADMISSION_NONE;
    if (!pod->is_known || !str_empty(a.name) || !timestamp_parse(a.time, &at_ms))
        return ADMISSION_OWN;
    const int64_t apart_ms = at_ms - pod->created_ms;
    return apart_ms >= -APART_MS && apart_ms <= APART_MS && has_patch(pod, a.patch, arena)
               ? ADMISSION_OWN
               : ADMISSION_OF_SIBLING;
}

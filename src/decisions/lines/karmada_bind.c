/* The step `bind`: makes the binding that Karmada's detector makes of a policy and an object. */
#include "karmada/propagate.h"
#include "lines/steps.h"

struct bind_line {
    struct propagation_policy policy;
    struct propagated_object object;
};

static void line_decode(struct json_reader *r, struct bind_line *line) {
    bool has_policy = false, has_object = false;
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("policy"))) {
            has_policy = json_peek(r) == JSON_OBJECT;
            propagation_policy_read(r, &line->policy);
        } else if (str_eq(key, STR("workload"))) {
            has_object = json_peek(r) == JSON_OBJECT;
            propagated_object_read(r, &line->object);
        }
    }
    if (!json_failed(r) && (!has_policy || !has_object))
        json_fail(r, "policy and workload are required");
}

int line_bind(struct json_reader *r, struct json_writer *w, struct err *err) {
    struct bind_line line = {.policy = {.cluster_wide = false}};
    struct karmada_propagation made;
    line_decode(r, &line);
    int e = json_finish(r, err);
    if (e == 0)
        e = karmada_propagate(&line.policy, &line.object, r->arena, &made, err);
    if (e != 0)
        return e;
    json_key(w, STR("madeBinding"));
    if (made.binding.p != NULL)
        json_put_raw(w, made.binding);
    else
        json_put_null(w);
    json_put_member(w, STR("reason"), made.reason);
    return 0;
}

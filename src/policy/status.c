#include "policy/status.h"

#include "base/json_reader.h"
#include "base/json_writer.h"

#include <errno.h>

#define READY STR("Ready")

/* ---- reading ---- */

static int64_t number(struct json_reader *r) {
    return json_integer(r, 0, INT64_MAX);
}

static void read_condition(struct json_reader *r, struct policy_status *status) {
    struct policy_status c = {0};
    struct str key, type = {0};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("type")))
            type = json_string(r);
        else if (str_eq(key, STR("status")))
            c.ready = json_string(r);
        else if (str_eq(key, STR("reason")))
            c.reason = json_string(r);
        else if (str_eq(key, STR("message")))
            c.message = json_string(r);
        else if (str_eq(key, STR("lastTransitionTime")))
            c.since = json_string(r);
        else if (str_eq(key, STR("observedGeneration")))
            c.condition_observed = number(r);
        else
            (void)json_skip(r); /* errors stay in r */
    }
    if (!str_eq(type, READY))
        return;
    status->condition_observed = c.condition_observed;
    status->ready = c.ready;
    status->reason = c.reason;
    status->message = c.message;
    status->since = c.since;
}

static void read_status(struct json_reader *r, struct policy_status *status) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("observedGeneration")))
            status->observed = number(r);
        else if (str_eq(key, STR("matched")))
            status->matched = number(r);
        else if (!str_eq(key, STR("conditions")))
            (void)json_skip(r); /* errors stay in r */
        else if (json_array(r))
            while (json_element(r))
                read_condition(r, status);
    }
}

static void read_generation(struct json_reader *r, struct policy_status *status) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("generation")))
            status->generation = number(r);
        else
            (void)json_skip(r); /* errors stay in r */
    }
}

void policy_status_read(struct str object, struct arena *arena, struct policy_status *ret) {
    struct policy_status status = {.matched = -1};
    struct json_reader r;
    struct str key;
    json_reader_init(&r, object, arena, "policy");
    if (json_object(&r))
        while (json_member(&r, &key)) {
            if (str_eq(key, STR("metadata")))
                read_generation(&r, &status);
            else if (str_eq(key, STR("status")))
                read_status(&r, &status);
            else
                (void)json_skip(&r); /* errors stay in r */
        }
    *ret = json_finish(&r, NULL) == 0
               ? status
               : (struct policy_status){.generation = status.generation, .matched = -1};
}

/* ---- judging and writing ---- */

const struct policy_reason_row policy_reasons[POLICY_REASONS] = {
    [POLICY_IN_FORCE] = {"True", "InForce", "pods are admitted and scored by the policy"},
    [POLICY_CANNOT_WORK] =
        {"False", "CannotWork",
         "the policy is left out of account; the message says what is wrong with it"},
};

struct verdict {
    struct str ready, reason, message;
};

static struct verdict verdict_on(const struct policy *policy) {
    bool works = str_empty(policy->problem);
    const struct policy_reason_row *row =
        &policy_reasons[works ? POLICY_IN_FORCE : POLICY_CANNOT_WORK];
    return (struct verdict){str_of(row->status), str_of(row->name),
                            works ? STR("the policy is in force") : policy->problem};
}

bool policy_status_is_right(const struct policy_status *status, const struct policy *policy) {
    struct verdict v = verdict_on(policy);
    return status->observed == status->generation &&
           status->condition_observed == status->generation && str_eq(status->ready, v.ready) &&
           str_eq(status->reason, v.reason) && str_eq(status->message, v.message);
}

void policy_status_patch(const struct policy_status *status, const struct policy *policy,
                         int64_t matched, struct str now, struct strbuf *out) {
    struct json_writer w = {.out = out};
    struct verdict v = verdict_on(policy);
    bool changes = !str_eq(status->ready, v.ready) || str_empty(status->since);
    json_begin_object(&w);
    json_key(&w, STR("status"));
    json_begin_object(&w);
    json_key(&w, STR("observedGeneration"));
    json_put_integer(&w, status->generation);
    if (matched >= 0) {
        json_key(&w, STR("matched"));
        json_put_integer(&w, matched);
    }
    json_key(&w, STR("conditions"));
    json_begin_array(&w);
    json_begin_object(&w);
    json_put_member(&w, STR("type"), READY);
    json_put_member(&w, STR("status"), v.ready);
    json_key(&w, STR("observedGeneration"));
    json_put_integer(&w, status->generation);
    json_put_member(&w, STR("lastTransitionTime"), changes ? now : status->since);
    json_put_member(&w, STR("reason"), v.reason);
    json_put_member(&w, STR("message"), v.message);
    json_end_object(&w);
    json_end_array(&w);
    json_end_object(&w);
    json_end_object(&w);
}

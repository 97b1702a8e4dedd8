#include "model/taint.h"

#include "base/json_fields.h"
#include "model/selector.h"

#include <stddef.h>

#define UNSCHEDULABLE "node.kubernetes.io/unschedulable"
const struct taint cordon_taint = {
    {UNSCHEDULABLE, sizeof UNSCHEDULABLE - 1}, {"", 0}, {"NoSchedule", 10}};

#define LITERAL(text)                                                                              \
    { text, sizeof text - 1 }
/* The effect "" stands for every effect. */
#define EXISTS(taint, of_effect)                                                                   \
    { .key = LITERAL(taint), .op = LITERAL("Exists"), .effect = LITERAL(of_effect) }
const struct toleration passing_taint_tolerations[PASSING_TAINTS] = {
    EXISTS("node.kubernetes.io/not-ready", ""),
    EXISTS("node.kubernetes.io/unreachable", ""),
    EXISTS(UNSCHEDULABLE, ""),
    EXISTS("node.kubernetes.io/memory-pressure", ""),
    EXISTS("node.kubernetes.io/disk-pressure", ""),
    EXISTS("node.kubernetes.io/pid-pressure", ""),
    EXISTS("node.kubernetes.io/network-unavailable", ""),
    EXISTS("node.kubernetes.io/out-of-service", ""),
    EXISTS("node.cloudprovider.kubernetes.io/uninitialized", ""),
    EXISTS("node.cloudprovider.kubernetes.io/shutdown", ""),
};
const struct toleration daemon_tolerations[DAEMON_TOLERATIONS] = {
    EXISTS("node.kubernetes.io/not-ready", "NoExecute"),
    EXISTS("node.kubernetes.io/unreachable", "NoExecute"),
    EXISTS("node.kubernetes.io/disk-pressure", "NoSchedule"),
    EXISTS("node.kubernetes.io/memory-pressure", "NoSchedule"),
    EXISTS("node.kubernetes.io/pid-pressure", "NoSchedule"),
    EXISTS(UNSCHEDULABLE, "NoSchedule"),
    EXISTS("node.kubernetes.io/network-unavailable", "NoSchedule"),
};

static void taint_decode(struct json_reader *r, void *into) {
    static const struct json_field fields[] = {
        JSON_TEXT("key", struct taint, key),
        JSON_TEXT("value", struct taint, value),
        JSON_TEXT("effect", struct taint, effect),
    };
    json_fields(r, &JSON_ROWS(fields), into);
}

const struct taint *taints_decode(struct json_reader *r, uint32_t *ret_count) {
    return json_array_of(r, sizeof(struct taint), UINT32_MAX, taint_decode, ret_count);
}

void taint_print(const struct taint *taint, struct strbuf *out) {
    strbuf_append_str(out, taint->key);
    strbuf_append_str(out, taint->value.n > 0 ? STR("=") : STR(""));
    strbuf_append_str(out, taint->value);
    strbuf_append_char(out, ':');
    strbuf_append_str(out, taint->effect);
}

/* Reads only whether tolerationSeconds is given. An API server refuses a value that is no integer.
 */
static void seconds_decode(struct json_reader *r, void *into) {
    *(bool *)into = !json_null(r);
    if (*(bool *)into)
        (void)json_skip(r); /* errors stay in r */
}

static void toleration_decode(struct json_reader *r, void *into) {
    static const struct json_field fields[] = {
        JSON_TEXT("key", struct toleration, key),
        JSON_TEXT("operator", struct toleration, op),
        JSON_TEXT("value", struct toleration, value),
        JSON_TEXT("effect", struct toleration, effect),
        JSON_CALL("tolerationSeconds", struct toleration, has_seconds, seconds_decode),
    };
    json_fields(r, &JSON_ROWS(fields), into);
}

struct tolerations tolerations_decode(struct json_reader *r) {
    struct tolerations t;
    t.items = json_array_of(r, sizeof(struct toleration), UINT32_MAX, toleration_decode, &t.count);
    return t;
}

bool toleration_tolerates(const struct toleration *toleration, const struct taint *taint) {
    if (toleration->effect.n > 0 && !str_eq(toleration->effect, taint->effect))
        return false;
    if (toleration->key.n > 0 && !str_eq(toleration->key, taint->key))
        return false;
    if (toleration->op.n == 0 || str_eq(toleration->op, STR("Equal")))
        return str_eq(toleration->value, taint->value);
    return str_eq(toleration->op, STR("Exists"));
}

static bool tolerated(const struct taint *taint, struct tolerations tolerations) {
    for (uint32_t i = 0; i < tolerations.count; i++)
        if (toleration_tolerates(&tolerations.items[i], taint))
            return true;
    return false;
}

bool taints_tolerated(const struct taint *taints, uint32_t count, struct tolerations tolerations) {
    for (uint32_t i = 0; i < count; i++)
        if ((str_eq(taints[i].effect, STR("NoSchedule")) ||
             str_eq(taints[i].effect, STR("NoExecute"))) &&
            !tolerated(&taints[i], tolerations))
            return false;
    return true;
}

bool taints_avoided(const struct taint *taints, uint32_t count, struct tolerations tolerations) {
    for (uint32_t i = 0; i < count; i++)
        if (str_eq(taints[i].effect, STR("PreferNoSchedule")) &&
            !tolerated(&taints[i], tolerations))
            return true;
    return false;
}

void tolerations_key(struct tolerations tolerations, struct strbuf *out) {
    strbuf_append(out, &tolerations.count, sizeof tolerations.count);
    for (uint32_t i = 0; i < tolerations.count; i++) {
        key_append(out, tolerations.items[i].key);
        key_append(out, tolerations.items[i].op);
        key_append(out, tolerations.items[i].value);
        key_append(out, tolerations.items[i].effect);
    }
}

struct cost tolerations_cost(struct tolerations tolerations) {
    struct cost sum = {0, 0};
    for (uint32_t i = 0; i < tolerations.count; i++) {
        const struct toleration *t = &tolerations.items[i];
        const struct str parts[] = {t->key, t->op, t->value, t->effect};
        cost_add(&sum, (struct cost){1, sizeof *t});
        for (size_t part = 0; part < sizeof parts / sizeof parts[0]; part++)
            cost_add(&sum, text_cost(parts[part]));
    }
    return sum;
}

struct tolerations tolerations_copy(struct tolerations from, struct arena *arena) {
    struct toleration *items = arena_array(arena, from.count, sizeof *items);
    if (items == NULL)
        return (struct tolerations){0};
    for (uint32_t i = 0; i < from.count; i++)
        items[i] = (struct toleration){
            .key = arena_str(arena, from.items[i].key),
            .op = arena_str(arena, from.items[i].op),
            .value = arena_str(arena, from.items[i].value),
            .effect = arena_str(arena, from.items[i].effect),
            .has_seconds = from.items[i].has_seconds,
        };
    return (struct tolerations){items, from.count};
}

#include "cli/explanation_read.h"

#include "base/json_reader.h"
#include "base/limits.h"

#include <stddef.h>

enum member_kind { WORD, NUMBER, FLAG, LIST };

static const struct member {
    struct str key;
    enum member_kind kind;
    size_t offset;
} members[] = {
#define MEMBER(key, kind, field)                                                                   \
    { {key, sizeof key - 1}, kind, offsetof(struct explained, field) }
    MEMBER("verb", WORD, verb),
    MEMBER("result", WORD, result),
    MEMBER("time", WORD, time),
    MEMBER("group", WORD, group),
    MEMBER("kind", WORD, kind),
    MEMBER("namespace", WORD, namespace),
    MEMBER("name", WORD, name),
    MEMBER("generateName", WORD, generate_name),
    MEMBER("message", WORD, message),
    MEMBER("node", WORD, node),
    MEMBER("by", WORD, by),
    MEMBER("from", WORD, from),
    MEMBER("policy", WORD, policy),
    MEMBER("replica", WORD, replica),
    MEMBER("uid", WORD, uid),
    MEMBER("number", NUMBER, number),
    MEMBER("tookMicroseconds", NUMBER, took_us),
    MEMBER("dataAgeMilliseconds", NUMBER, data_age_ms),
    MEMBER("candidates", NUMBER, candidates),
    MEMBER("knownNodes", NUMBER, known),
    MEMBER("passed", NUMBER, passed),
    MEMBER("preferred", NUMBER, preferred),
    MEMBER("dryRun", FLAG, dry_run),
    MEMBER("cut", FLAG, cut),
    MEMBER("dataAges", LIST, ages),
    MEMBER("datasets", LIST, datasets),
    MEMBER("leaving", LIST, leaving),
    MEMBER("constraints", LIST, constraints),
    MEMBER("podsByDomain", LIST, counts),
    MEMBER("dropped", LIST, dropped),
    MEMBER("scores", LIST, scores),
    MEMBER("notes", LIST, notes),
    MEMBER("warnings", LIST, warnings),
    MEMBER("patch", LIST, patch),
};

static const struct member *member_of(struct str key) {
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (str_eq(members[i].key, key))
            return &members[i];
    return NULL;
}

static void read_member(struct json_reader *r, const struct member *member, void *into) {
    char *field = (char *)into + member->offset;
    switch (member->kind) {
    case WORD:
        *(struct str *)field = json_string(r);
        break;
    case NUMBER:
        *(int64_t *)field = json_integer(r, INT64_MIN, INT64_MAX);
        break;
    case FLAG:
        *(bool *)field = json_bool(r);
        break;
    case LIST:
        *(struct str *)field = json_skip(r);
        break;
    }
}

static void read_decision(struct json_reader *r, void *into) {
    struct explained *d = into;
    struct str key;
    *d = (struct explained){
        .number = -1, .candidates = -1, .known = -1, .passed = -1, .preferred = -1};
    if (json_object(r))
        while (json_member(r, &key)) {
            const struct member *member = member_of(key);
            if (member != NULL)
                read_member(r, member, d);
        }
}

/* The members of an answer but for the decisions. */
static void read_other(struct json_reader *r, struct str key, struct explanation *a) {
    static const struct json_string_field replica[] = {
        {{"name", 4}, offsetof(struct explanation, replica)},
        {{"version", 7}, offsetof(struct explanation, version)}};
    static const struct json_string_field texts[] = {
        {{"notJudged", 9}, offsetof(struct explanation, not_judged)},
        {{"podFrom", 7}, offsetof(struct explanation, pod_from)},
        {{"podNotRead", 10}, offsetof(struct explanation, pod_not_read)}};
    static const struct json_string_field parts[] = {
        {{"cause", 5}, offsetof(struct explanation, cause)},
        {{"state", 5}, offsetof(struct explanation, state)},
        {{"now", 3}, offsetof(struct explanation, now)},
        {{"replicas", 8}, offsetof(struct explanation, replicas)}};
    if (str_eq(key, STR("replica"))) {
        json_strings_of(r, replica, 2, a);
        return;
    }
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (str_eq(key, texts[i].name)) {
            *(struct str *)(void *)((char *)a + texts[i].offset) = json_string(r);
            return;
        }
    struct str value = json_skip(r);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (str_eq(key, parts[i].name))
            *(struct str *)(void *)((char *)a + parts[i].offset) = value;
}

int explanation_read(struct str json, struct arena *arena, struct explanation *ret,
                     struct err *err) {
    enum { MOST = (LIMIT_EXPLAINED + 1) * LIMIT_EXPLAINED_REPLICAS };
    struct json_reader r;
    struct str key;
    *ret = (struct explanation){0};
    json_reader_init(&r, json, arena, "Explanation");
    if (json_peek(&r) != JSON_OBJECT)
        json_fail(&r, "expected an object");
    if (json_object(&r))
        while (json_member(&r, &key)) {
            if (str_eq(key, STR("decisions")))
                ret->items =
                    json_array_of(&r, sizeof *ret->items, MOST, read_decision, &ret->count);
            else
                read_other(&r, key, ret);
        }
    return json_finish(&r, err);
}

struct subject explained_subject(const struct explained *d) {
    struct str name = d->name.n > 0 ? d->name : d->generate_name;
    struct subject pod = subject_pod(d->namespace, name);
    return str_empty(d->kind) || str_eq(d->kind, pod.kind)
               ? pod
               : (struct subject){d->group, d->kind, d->namespace, name};
}

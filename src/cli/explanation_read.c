#include "cli/explanation_read.h"

#include "base/json_fields.h"
#include "base/limits.h"

enum { MOST = (LIMIT_EXPLAINED + 1) * LIMIT_EXPLAINED_REPLICAS };

#define NUMBER(key, member, missing)                                                               \
    JSON_INTEGER(key, struct explained, member, INT64_MIN, INT64_MAX, .absent = (missing))

static const struct json_field decision_fields[] = {
    JSON_TEXT("verb", struct explained, verb),
    JSON_TEXT("result", struct explained, result),
    JSON_TEXT("time", struct explained, time),
    JSON_TEXT("group", struct explained, group),
    JSON_TEXT("kind", struct explained, kind),
    JSON_TEXT("namespace", struct explained, namespace),
    JSON_TEXT("name", struct explained, name),
    JSON_TEXT("generateName", struct explained, generate_name),
    JSON_TEXT("message", struct explained, message),
    JSON_TEXT("node", struct explained, node),
    JSON_TEXT("by", struct explained, by),
    JSON_TEXT("from", struct explained, from),
    JSON_TEXT("policy", struct explained, policy),
    JSON_TEXT("replica", struct explained, replica),
    JSON_TEXT("uid", struct explained, uid),
    NUMBER("number", number, -1),
    NUMBER("tookMicroseconds", took_us, 0),
    NUMBER("dataAgeMilliseconds", data_age_ms, 0),
    NUMBER("candidates", candidates, -1),
    NUMBER("knownNodes", known, -1),
    NUMBER("passed", passed, -1),
    NUMBER("preferred", preferred, -1),
    JSON_FLAG("dryRun", struct explained, dry_run),
    JSON_FLAG("cut", struct explained, cut),
    JSON_RAW("dataAges", struct explained, ages),
    JSON_RAW("datasets", struct explained, datasets),
    JSON_RAW("leaving", struct explained, leaving),
    JSON_RAW("constraints", struct explained, constraints),
    JSON_RAW("podsByDomain", struct explained, counts),
    JSON_RAW("dropped", struct explained, dropped),
    JSON_RAW("scores", struct explained, scores),
    JSON_RAW("notes", struct explained, notes),
    JSON_RAW("warnings", struct explained, warnings),
    JSON_RAW("patch", struct explained, patch),
};

static const struct json_field replica_fields[] = {
    JSON_TEXT("name", struct explanation, replica),
    JSON_TEXT("version", struct explanation, version),
};

static const struct json_field fields[] = {
    JSON_LIST("decisions", struct explanation, items, count, MOST, decision_fields),
    JSON_WITHIN("replica", replica_fields),
    JSON_TEXT("notJudged", struct explanation, not_judged),
    JSON_TEXT("podFrom", struct explanation, pod_from),
    JSON_TEXT("podNotRead", struct explanation, pod_not_read),
    JSON_RAW("cause", struct explanation, cause),
    JSON_RAW("state", struct explanation, state),
    JSON_RAW("now", struct explanation, now),
    JSON_RAW("replicas", struct explanation, replicas),
};

int explanation_read(struct str json, struct arena *arena, struct explanation *ret,
                     struct err *err) {
    struct json_reader r;
    *ret = (struct explanation){0};
    json_reader_init(&r, json, arena, "Explanation");
    if (json_peek(&r) != JSON_OBJECT)
        json_fail(&r, "expected an object");
    json_fields(&r, &JSON_ROWS(fields), ret);
    return json_finish(&r, err);
}

struct subject explained_subject(const struct explained *d) {
    struct str name = d->name.n > 0 ? d->name : d->generate_name;
    struct subject pod = subject_pod(d->namespace, name);
    return str_empty(d->kind) || str_eq(d->kind, pod.kind)
               ? pod
               : (struct subject){d->group, d->kind, d->namespace, name};
}

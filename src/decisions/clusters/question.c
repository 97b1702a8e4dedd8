#include "clusters/question.h"

#include "admission/placements/shape.h"
#include "base/timestamp.h"
#include "model/names.h"

#include <errno.h>

static const struct str placement_group = {OCM_GROUP, sizeof OCM_GROUP - 1};

/* Reads the next object; fails if its kind is not Placement. */
static void read_placement(struct json_reader *r, struct placement *ret) {
    const struct str version = json_peek_member(r, STR("apiVersion"));
    const struct str kind = json_peek_member(r, STR("kind"));
    if (!json_failed(r) && json_peek(r) == JSON_OBJECT &&
        (!str_eq(kind, STR(PLACEMENT_KIND)) || !str_eq(api_group(version), placement_group)))
        json_fail(r, "'%.*s' of '%.*s': expected a Placement of %.*s", STR_ARG(kind),
                  STR_ARG(version), STR_ARG(placement_group));
    placement_decode(r, ret);
    if (!json_failed(r) && str_empty(ret->meta.name))
        json_fail(r, "the Placement that ends here has no metadata.name");
}

static void read_now(struct json_reader *r, struct clusters_question *ret) {
    const struct str text = json_string(r);
    if (json_failed(r) || text.p == NULL)
        return;
    ret->has_now = timestamp_parse(text, &ret->now_ms);
    if (!ret->has_now)
        json_fail(r, "'%.*s' is no time such as 2026-01-02T03:04:05Z", STR_ARG(text));
}

static void read_state(struct json_reader *r, struct clusters_question *ret) {
    if (json_peek(r) != JSON_OBJECT && json_peek(r) != JSON_NULL)
        json_fail(r, "expected a List of objects");
    else if (!json_null(r))
        ret->state = json_skip(r);
}

static void read_member(struct json_reader *r, struct str key, struct clusters_question *ret) {
    if (str_eq(key, STR("placement"))) {
        ret->has_placement = json_peek(r) != JSON_NULL;
        if (ret->has_placement)
            read_placement(r, &ret->placement);
        else
            (void)json_null(r);
    } else if (str_eq(key, STR("binding"))) {
        ret->has_binding = json_peek(r) != JSON_NULL;
        if (ret->has_binding)
            binding_read(r, &ret->binding);
        else
            (void)json_null(r);
    } else if (str_eq(key, STR("state"))) {
        read_state(r, ret);
    } else if (str_eq(key, STR("clusterNames"))) {
        ret->has_names = json_peek(r) != JSON_NULL;
        ret->names = json_string_array(r, UINT32_MAX, &ret->name_count);
    } else if (str_eq(key, STR("now"))) {
        read_now(r, ret);
    } else if (str_eq(key, STR("rounds"))) {
        ret->with_rounds = json_bool(r);
    } else if (str_eq(key, STR("limit"))) {
        ret->limit = (uint32_t)json_integer(r, 0, UINT32_MAX);
    }
}

int clusters_question_decode(struct str body, struct arena *arena, struct clusters_question *ret,
                             struct err *err) {
    struct json_reader r;
    struct str key;
    *ret = (struct clusters_question){.has_placement = false};
    if (!steps_take_bytes(&arena->steps, body.n))
        return err_set(err, -E2BIG, "no steps left to read the question");
    json_reader_init(&r, body, arena, "question");
    if (json_object(&r))
        while (json_member(&r, &key))
            read_member(&r, key, ret);
    return json_finish(&r, err);
}

/* ---- a file ---- */

static int read_document(struct str json, struct arena *arena, struct placement *ret,
                         struct err *err) {
    struct json_reader r;
    json_reader_init(&r, json, arena, PLACEMENT_KIND);
    if (str_eq(json_peek_member(&r, STR("kind")), STR("PlacementRule")))
        return err_set(err, -EINVAL,
                       "kind is 'PlacementRule', which Placement has replaced: write a Placement");
    read_placement(&r, ret);
    return json_finish(&r, err);
}

/* Is numberOfClusters negative? Such a file is accepted: the webhook answers it with a refusal. */
static bool is_negative(struct str json, struct arena *arena) {
    int64_t number;
    struct err unsaid;
    return placement_number(json, arena, &number, &unsaid) == 0 && number < 0;
}

static bool is_placement(struct str json, struct arena *arena) {
    struct json_reader r;
    json_reader_init(&r, json, arena, PLACEMENT_KIND);
    return str_eq(json_peek_member(&r, STR("kind")), STR(PLACEMENT_KIND));
}

const struct document_kind placement_documents = {"placement file", PLACEMENT_KIND, is_placement};

int clusters_placement_read(const struct document *d, struct arena *arena, struct placement *ret,
                            struct err *err) {
    const int r = read_document(d->text, arena, ret, err);
    return r == 0 ? 0 : document_complain(d, err);
}

int clusters_placement_check(const struct document *d, struct arena *arena, struct err *err) {
    struct placement placement;
    return is_negative(d->text, arena) ? 0 : clusters_placement_read(d, arena, &placement, err);
}

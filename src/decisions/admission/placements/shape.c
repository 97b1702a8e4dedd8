#include "admission/placements/shape.h"

#include "base/json_fields.h"
#include "model/ocm.h"

/* ---- prioritizers ---- */

static void read_coordinate(struct json_reader *r, struct shape_configuration *c) {
    struct add_on {
        struct str resource, score;
    } add_on = {.score = {0}};
    static const struct json_field names[] = {JSON_TEXT("resourceName", struct add_on, resource),
                                              JSON_TEXT("scoreName", struct add_on, score)};
    struct str key, built_in = {0};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("type")))
            c->is_add_on = str_eq(json_string(r), STR("AddOn"));
        else if (str_eq(key, STR("builtIn")))
            built_in = json_string(r);
        else if (str_eq(key, STR("addOn")))
            json_fields(r, &JSON_ROWS(names), &add_on);
    }
    c->is_ours = c->is_add_on && injected_key_read(add_on.resource, add_on.score, &c->key);
    if (!c->is_add_on)
        c->built_in = built_in;
}

static void read_configuration(struct json_reader *list, void *into) {
    struct shape_configuration *c = into;
    struct json_reader r;
    struct str key;
    c->text = json_skip(list);
    c->weight = 1;
    json_reader_init(&r, c->text, list->arena, "configuration");
    if (!json_failed(list) && json_object(&r))
        while (json_member(&r, &key)) {
            if (str_eq(key, STR("scoreCoordinate")))
                read_coordinate(&r, c);
            else if (str_eq(key, STR("weight")))
                c->weight = json_null(&r) ? 1 : (int32_t)json_integer(&r, INT32_MIN, INT32_MAX);
        }
    if (json_failed(&r))
        json_fail(list, "%s", r.error.text);
}

static void read_policy(struct json_reader *r, struct placement_shape *s) {
    struct str key;
    s->has_policy = json_object(r);
    while (s->has_policy && json_member(r, &key)) {
        if (str_eq(key, STR("mode")))
            s->mode = json_string(r);
        else if (str_eq(key, STR("configurations")))
            s->configurations = json_array_of(r, sizeof *s->configurations, UINT32_MAX,
                                              read_configuration, &s->configuration_count);
    }
}

/* ---- predicates ---- */

static void read_expression(struct json_reader *list, void *into) {
    struct shape_expression *e = into;
    struct json_reader r;
    e->text = json_skip(list);
    json_reader_init(&r, e->text, list->arena, "expression");
    if (!json_failed(list))
        e->is_ours = gate_read(json_string(&r), &e->key);
    if (json_failed(&r))
        json_fail(list, "%s", r.error.text);
}

static void read_cel(struct json_reader *r, struct shape_predicate *p) {
    struct str key;
    p->has_cel = p->cel_is_alone = json_object(r);
    while (p->has_cel && json_member(r, &key)) {
        if (str_eq(key, STR("celExpressions"))) {
            p->expressions = json_array_of(r, sizeof *p->expressions, UINT32_MAX, read_expression,
                                           &p->expression_count);
        } else {
            p->cel_is_alone = false;
        }
    }
}

/* Does the selector match every cluster? null, {}, or only empty members: matchLabels: {}. */
static bool is_empty(struct json_reader *r) {
    struct str key;
    bool empty = true;
    if (json_peek(r) == JSON_ARRAY) {
        (void)json_array(r); /* peeked at before */
        while (json_element(r))
            empty = false;
        return empty;
    }
    if (!json_object(r))
        return true;
    while (json_member(r, &key)) {
        const struct str value = json_skip(r);
        empty = empty && (str_eq(value, STR("null")) || str_eq(value, STR("{}")) ||
                          str_eq(value, STR("[]")));
    }
    return empty;
}

static void read_selector(struct json_reader *r, struct shape_predicate *p) {
    struct str key;
    p->has_selector = json_object(r);
    while (p->has_selector && json_member(r, &key)) {
        if (str_eq(key, STR("celSelector")))
            read_cel(r, p);
        else if (!is_empty(r))
            p->is_bare = false;
    }
}

static void read_predicate(struct json_reader *list, void *into) {
    struct shape_predicate *p = into;
    struct json_reader r;
    struct str key;
    p->text = json_skip(list);
    p->is_bare = true;
    json_reader_init(&r, p->text, list->arena, "predicate");
    if (!json_failed(list) && json_object(&r))
        while (json_member(&r, &key)) {
            if (str_eq(key, STR("requiredClusterSelector")))
                read_selector(&r, p);
        }
    if (json_failed(&r))
        json_fail(list, "%s", r.error.text);
    for (uint32_t i = 0; i < p->expression_count; i++)
        p->ours += p->expressions[i].is_ours;
    p->is_bare = p->is_bare && p->ours == p->expression_count;
}

/* ---- the Placement ---- */

static void read_annotations(struct json_reader *r, struct placement_shape *s) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        s->annotation_count++;
        if (str_eq(key, STR(PLACEMENT_DISABLE_ANNOTATION))) {
            s->disabled = str_eq(json_string(r), STR("true"));
        } else if (str_eq(key, STR(PLACEMENT_INJECTED_ANNOTATION))) {
            s->has_annotation = true;
            s->annotation = json_string(r);
        }
    }
}

static void read_metadata(struct json_reader *r, struct placement_shape *s) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("annotations")))
            read_annotations(r, s);
    }
}

static void read_spec(struct json_reader *r, struct placement_shape *s) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("numberOfClusters"))) {
            s->number = json_integer(r, INT64_MIN, INT64_MAX);
        } else if (str_eq(key, STR("prioritizerPolicy"))) {
            read_policy(r, s);
        } else if (str_eq(key, STR("predicates"))) {
            s->has_predicates = json_peek(r) == JSON_ARRAY;
            s->predicates = json_array_of(r, sizeof *s->predicates, UINT32_MAX, read_predicate,
                                          &s->predicate_count);
        }
    }
}

int placement_shape(struct str object, struct arena *arena, struct placement_shape *ret,
                    struct err *err) {
    struct json_reader r;
    struct str key;
    *ret = (struct placement_shape){.number = 0};
    json_reader_init(&r, object, arena, PLACEMENT_KIND);
    if (json_object(&r))
        while (json_member(&r, &key)) {
            if (str_eq(key, STR("metadata")))
                read_metadata(&r, ret);
            else if (str_eq(key, STR("spec")))
                read_spec(&r, ret);
        }
    if (ret->has_annotation)
        injected_read(ret->annotation, arena, &ret->injected);
    return json_finish(&r, err);
}

int placement_number(struct str object, struct arena *arena, int64_t *ret, struct err *err) {
    struct json_reader r;
    struct str key;
    *ret = 0;
    json_reader_init(&r, object, arena, PLACEMENT_KIND);
    if (json_object(&r))
        while (json_member(&r, &key)) {
            if (!str_eq(key, STR("spec")))
                continue;
            if (!json_object(&r))
                continue;
            while (json_member(&r, &key)) {
                if (str_eq(key, STR("numberOfClusters")))
                    *ret = json_integer(&r, INT64_MIN, INT64_MAX);
            }
        }
    return json_finish(&r, err);
}

/* ---- our entries ---- */

bool shape_key(const struct placement_shape *s, struct injected_key *ret) {
    for (uint32_t i = 0; i < s->predicate_count; i++)
        for (uint32_t e = 0; e < s->predicates[i].expression_count; e++)
            if (s->predicates[i].expressions[e].is_ours) {
                *ret = s->predicates[i].expressions[e].key;
                return true;
            }
    for (uint32_t i = 0; i < s->configuration_count; i++)
        if (s->configurations[i].is_ours) {
            *ret = s->configurations[i].key;
            return true;
        }
    return false;
}

bool shape_is_gated(const struct placement_shape *s, struct injected_key key) {
    for (uint32_t i = 0; i < s->predicate_count; i++)
        for (uint32_t e = 0; e < s->predicates[i].expression_count; e++) {
            const struct shape_expression *x = &s->predicates[i].expressions[e];
            if (x->is_ours && injected_key_eq(x->key, key))
                return true;
        }
    return false;
}

bool shape_has_ours(const struct placement_shape *s) {
    struct injected_key unused;
    return s->has_annotation || shape_key(s, &unused);
}

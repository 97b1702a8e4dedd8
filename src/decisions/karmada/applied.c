/*
 * Both functions walk along the Go types, which are tables here, and write each value as Go would
 * encode it after decoding. The annotation leaves out empty values if the type has omitempty. For a
 * comparison, values differ that differ in Go, such as nil and empty.
 */
#include "karmada/applied.h"

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "model/labels.h"
#include "model/selector.h"

#include <errno.h>

/* ---- the types ---- */

enum shape {
    SHAPE_TEXT,
    SHAPE_INTEGER,
    SHAPE_INTEGER_POINTER,
    SHAPE_TEXTS,   /* []string */
    SHAPE_LABELS,  /* map[string]string */
    SHAPE_STRUCT,  /* a struct, by value */
    SHAPE_POINTER, /* a pointer to a struct */
    SHAPE_STRUCTS, /* a slice of structs */
};
struct field {
    struct str name;
    enum shape shape;
    bool always;                /* the Go type has no omitempty */
    const struct field *fields; /* for structs; a field without a name ends the list */
    struct str defaults_to;     /* the CRD's default */
};
enum { FIELDS_MAX = 8 };

#define NAME(literal)                                                                              \
    { "" literal, sizeof(literal) - 1 }
static const struct field expression_fields[] = {
    {.name = NAME("key"), .shape = SHAPE_TEXT, .always = true},
    {.name = NAME("operator"), .shape = SHAPE_TEXT, .always = true},
    {.name = NAME("values"), .shape = SHAPE_TEXTS},
    {.name = {NULL, 0}},
};
static const struct field label_selector_fields[] = {
    {.name = NAME("matchLabels"), .shape = SHAPE_LABELS},
    {.name = NAME("matchExpressions"), .shape = SHAPE_STRUCTS, .fields = expression_fields},
    {.name = {NULL, 0}},
};
static const struct field field_selector_fields[] = {
    {.name = NAME("matchExpressions"), .shape = SHAPE_STRUCTS, .fields = expression_fields},
    {.name = {NULL, 0}},
};
#define AFFINITY_FIELDS                                                                            \
    {.name = NAME("labelSelector"), .shape = SHAPE_POINTER, .fields = label_selector_fields},      \
        {.name = NAME("fieldSelector"), .shape = SHAPE_POINTER, .fields = field_selector_fields},  \
        {.name = NAME("clusterNames"), .shape = SHAPE_TEXTS}, {                                    \
        .name = NAME("exclude"), .shape = SHAPE_TEXTS                                              \
    }
static const struct field affinity_fields[] = {AFFINITY_FIELDS, {.name = {NULL, 0}}};
static const struct field overflow_fields[] = {
    {.name = NAME("affinityName"), .shape = SHAPE_TEXT, .always = true},
    AFFINITY_FIELDS,
    {.name = {NULL, 0}},
};
static const struct field term_fields[] = {
    {.name = NAME("affinityName"), .shape = SHAPE_TEXT, .always = true},
    AFFINITY_FIELDS,
    {.name = NAME("overflowAffinities"), .shape = SHAPE_STRUCTS, .fields = overflow_fields},
    {.name = {NULL, 0}},
};
static const struct field toleration_fields[] = {
    {.name = NAME("key"), .shape = SHAPE_TEXT},
    {.name = NAME("operator"), .shape = SHAPE_TEXT},
    {.name = NAME("value"), .shape = SHAPE_TEXT},
    {.name = NAME("effect"), .shape = SHAPE_TEXT},
    {.name = NAME("tolerationSeconds"), .shape = SHAPE_INTEGER_POINTER},
    {.name = {NULL, 0}},
};
static const struct field spread_fields[] = {
    {.name = NAME("spreadByField"), .shape = SHAPE_TEXT},
    {.name = NAME("spreadByLabel"), .shape = SHAPE_TEXT},
    {.name = NAME("maxGroups"), .shape = SHAPE_INTEGER},
    {.name = NAME("minGroups"), .shape = SHAPE_INTEGER},
    {.name = {NULL, 0}},
};
static const struct field weight_fields[] = {
    {.name = NAME("targetCluster"),
     .shape = SHAPE_STRUCT,
     .always = true,
     .fields = affinity_fields},
    {.name = NAME("weight"), .shape = SHAPE_INTEGER, .always = true},
    {.name = {NULL, 0}},
};
static const struct field preference_fields[] = {
    {.name = NAME("staticWeightList"), .shape = SHAPE_STRUCTS, .fields = weight_fields},
    {.name = NAME("dynamicWeight"), .shape = SHAPE_TEXT},
    {.name = {NULL, 0}},
};
static const struct field scheduling_fields[] = {
    {.name = NAME("replicaSchedulingType"), .shape = SHAPE_TEXT, .defaults_to = NAME("Divided")},
    {.name = NAME("replicaDivisionPreference"), .shape = SHAPE_TEXT},
    {.name = NAME("weightPreference"), .shape = SHAPE_POINTER, .fields = preference_fields},
    {.name = {NULL, 0}},
};
static const struct field group_fields[] = {
    {.name = NAME("groupByLabelKey"), .shape = SHAPE_TEXT, .always = true},
    {.name = {NULL, 0}},
};
static const struct field workload_fields[] = {
    {.name = NAME("affinity"), .shape = SHAPE_POINTER, .fields = group_fields},
    {.name = NAME("antiAffinity"), .shape = SHAPE_POINTER, .fields = group_fields},
    {.name = {NULL, 0}},
};

enum { AFFINITY, AFFINITIES, TOLERATIONS, SPREAD, SCHEDULING, WORKLOAD, PLACEMENT_FIELDS };
static const struct field placement_fields[] = {
    [AFFINITY] = {.name = NAME("clusterAffinity"),
                  .shape = SHAPE_POINTER,
                  .fields = affinity_fields},
    [AFFINITIES] = {.name = NAME("clusterAffinities"),
                    .shape = SHAPE_STRUCTS,
                    .fields = term_fields},
    [TOLERATIONS] = {.name = NAME("clusterTolerations"),
                     .shape = SHAPE_STRUCTS,
                     .fields = toleration_fields},
    [SPREAD] = {.name = NAME("spreadConstraints"), .shape = SHAPE_STRUCTS, .fields = spread_fields},
    [SCHEDULING] = {.name = NAME("replicaScheduling"),
                    .shape = SHAPE_POINTER,
                    .fields = scheduling_fields},
    [WORKLOAD] = {.name = NAME("workloadAffinity"),
                  .shape = SHAPE_POINTER,
                  .fields = workload_fields},
    [PLACEMENT_FIELDS] = {.name = {NULL, 0}},
};

/* ---- values ---- */

struct writing {
    struct json_writer w;
    struct arena *arena;
    const char *root; /* name of the text in errors */
    bool compares;    /* for a comparison: leave out only nil values */
    bool defaults;    /* apply the CRD's defaults */
    bool webhook;     /* apply the defaults of Karmada's webhook, too */
    struct err error; /* the first error */
};

static void put_struct(struct writing *x, const struct field *fields, struct str text);

static struct json_reader reader_of(const struct writing *x, struct str text) {
    struct json_reader r;
    json_reader_init(&r, text, x->arena, x->root);
    return r;
}

static void end_reading(struct writing *x, struct json_reader *r) {
    struct err err;
    const int e = json_check(r, &err);
    if (e != 0 && x->error.code == 0)
        x->error = err;
}

static void put_text(struct writing *x, const struct field *field, struct str text) {
    struct json_reader r = reader_of(x, text);
    struct str value = str_empty(text) ? (struct str){0} : json_string(&r);
    end_reading(x, &r);
    if (str_empty(value) && x->defaults)
        value = field->defaults_to;
    if (!str_empty(value) || field->always)
        json_put_member(&x->w, field->name, value);
}

static void put_integer(struct writing *x, const struct field *field, struct str text) {
    struct json_reader r = reader_of(x, text);
    const bool given = !str_empty(text) && !json_null(&r);
    const int64_t value = given ? json_integer(&r, INT64_MIN, INT64_MAX) : 0;
    end_reading(x, &r);
    if (value == 0 && !field->always && !(given && field->shape == SHAPE_INTEGER_POINTER))
        return;
    json_key(&x->w, field->name);
    json_put_integer(&x->w, value);
}

static void put_texts(struct writing *x, const struct field *field, struct str text) {
    struct json_reader r = reader_of(x, text);
    uint32_t count = 0;
    const bool given = !str_empty(text) && !json_null(&r);
    const struct str *items = given ? strings_decode(&r, &count) : NULL;
    end_reading(x, &r);
    if (!given || (count == 0 && !x->compares))
        return;
    json_key(&x->w, field->name);
    json_begin_array(&x->w);
    for (uint32_t i = 0; i < count; i++)
        json_put_string(&x->w, items[i]);
    json_end_array(&x->w);
}

static void put_labels(struct writing *x, const struct field *field, struct str text) {
    struct json_reader r = reader_of(x, text);
    const bool given = !str_empty(text) && !json_null(&r);
    const struct labels labels = given ? labels_decode(&r) : (struct labels){0};
    end_reading(x, &r);
    if (!given || (labels.count == 0 && !x->compares))
        return;
    json_key(&x->w, field->name);
    json_begin_object(&x->w);
    for (uint32_t i = 0; i < labels.count; i++)
        json_put_member(&x->w, labels.items[i].key, labels.items[i].value);
    json_end_object(&x->w);
}

static void put_structs(struct writing *x, const struct field *field, struct str text) {
    struct json_reader r = reader_of(x, text);
    bool open = false;
    if (!str_empty(text) && !json_null(&r)) {
        if (x->compares) {
            json_key(&x->w, field->name);
            json_begin_array(&x->w);
            open = true;
        }
        if (json_array(&r))
            while (json_element(&r)) {
                const struct str item = json_skip(&r);
                if (!open) {
                    json_key(&x->w, field->name);
                    json_begin_array(&x->w);
                    open = true;
                }
                put_struct(x, field->fields, item);
            }
    }
    end_reading(x, &r);
    if (open)
        json_end_array(&x->w);
}

static void put_field(struct writing *x, const struct field *field, struct str text) {
    switch (field->shape) {
    case SHAPE_TEXT:
        put_text(x, field, text);
        break;
    case SHAPE_INTEGER:
    case SHAPE_INTEGER_POINTER:
        put_integer(x, field, text);
        break;
    case SHAPE_TEXTS:
        put_texts(x, field, text);
        break;
    case SHAPE_LABELS:
        put_labels(x, field, text);
        break;
    case SHAPE_STRUCTS:
        put_structs(x, field, text);
        break;
    case SHAPE_POINTER:
        if (str_empty(text) || str_eq(text, STR("null")))
            break;
        json_key(&x->w, field->name);
        put_struct(x, field->fields, text);
        break;
    case SHAPE_STRUCT:
        json_key(&x->w, field->name);
        put_struct(x, field->fields, text);
        break;
    }
}

/* Finds the members' values in the text; the last value of a repeated member. */
static void split(struct writing *x, const struct field *fields, struct str text,
                  struct str values[FIELDS_MAX]) {
    struct json_reader r = reader_of(x, text);
    struct str key;
    memset(values, 0, FIELDS_MAX * sizeof *values);
    if (!str_empty(text) && json_object(&r))
        while (json_member(&r, &key)) {
            const struct str value = json_skip(&r);
            for (uint32_t i = 0; fields[i].name.p != NULL; i++)
                if (str_eq(key, fields[i].name))
                    values[i] = value;
        }
    end_reading(x, &r);
}

static bool is_one_of(struct str value, const char *const words[3]) {
    for (uint32_t i = 0; i < 3; i++)
        if (str_eq(value, str_of(words[i])))
            return true;
    return false;
}

/* Sets members that the policy leaves out. upstream: SetDefaultSpreadConstraints() and
 * SetReplicaDivisionPreferenceWeighted(). */
static void default_by_webhook(const struct field *fields, struct str values[FIELDS_MAX]) {
    enum { BY_FIELD, BY_LABEL, MAX_GROUPS, MIN_GROUPS };
    enum { TYPE, PREFERENCE };
    static const char *const empty[3] = {"", "null", "\"\""};
    static const char *const zero[3] = {"", "null", "0"};
    if (fields == spread_fields) {
        if (is_one_of(values[BY_FIELD], empty) && is_one_of(values[BY_LABEL], empty))
            values[BY_FIELD] = STR("\"cluster\"");
        if (is_one_of(values[MIN_GROUPS], zero))
            values[MIN_GROUPS] = STR("1");
    } else if (fields == scheduling_fields && is_one_of(values[PREFERENCE], empty) &&
               (is_one_of(values[TYPE], empty) || str_eq(values[TYPE], STR("\"Divided\"")))) {
        values[PREFERENCE] = STR("\"Weighted\"");
    }
}

/* Recursion is limited by the depth of the types. */
static void put_struct(struct writing *x, const struct field *fields, struct str text) {
    struct str values[FIELDS_MAX];
    split(x, fields, text, values);
    if (x->webhook)
        default_by_webhook(fields, values);
    json_begin_object(&x->w);
    for (uint32_t i = 0; fields[i].name.p != NULL && x->error.code == 0; i++)
        put_field(x, &fields[i], values[i]);
    json_end_object(&x->w);
}

/* ---- texts ---- */

/* Gets the text, in the arena. Returns 0 or -errno. */
static int end_writing(struct writing *x, struct strbuf *out, struct str *ret, struct err *err) {
    if (x->error.code != 0)
        return err_set(err, x->error.code, "%s", x->error.text);
    *ret = arena_str(x->arena, strbuf_str(out));
    if (strbuf_failed(out) || arena_failed(x->arena))
        return err_set(err, -ENOMEM, "no memory for a placement");
    return 0;
}

static int take_steps(struct arena *arena, struct str text, struct err *err) {
    enum { LEVELS = 6 }; /* at each level, a text is read once and skipped once */
    if (steps_take_bytes(&arena->steps, (uint64_t)text.n * 2 * LEVELS))
        return 0;
    return err_set(err, -E2BIG, "a placement that takes more steps than there are");
}

static int write_placement(struct str placement, bool webhook, struct arena *arena, struct str *ret,
                           struct err *err) {
    CLEANUP(strbuf_done) struct strbuf out = {0};
    struct writing x = {.w = {.out = &out},
                        .arena = arena,
                        .root = "spec.placement",
                        .defaults = true,
                        .webhook = webhook};
    const int r = take_steps(arena, placement, err);
    if (r != 0)
        return r;
    put_struct(&x, placement_fields, placement);
    return end_writing(&x, &out, ret, err);
}

int karmada_placement_marshal(struct str placement, struct arena *arena, struct str *ret,
                              struct err *err) {
    return write_placement(placement, false, arena, ret, err);
}

int karmada_placement_store(struct str placement, struct arena *arena, struct str *ret,
                            struct err *err) {
    return write_placement(placement, true, arena, ret, err);
}

/* The compared parts of a placement, in comparable form; "" for nil. */
struct comparable {
    struct str fields[PLACEMENT_FIELDS];
    struct str term; /* the observed term of clusterAffinities; .p NULL: not found */
};

/* Gets the first term with the name, in comparable form. */
static int find_term(struct writing *x, struct str terms, struct str observed, struct str *ret,
                     struct err *err) {
    CLEANUP(strbuf_done) struct strbuf out = {0};
    struct json_reader r = reader_of(x, terms);
    struct str found = {0};
    if (!str_empty(terms) && json_array(&r))
        while (json_element(&r)) {
            const bool is_it =
                found.p == NULL && str_eq(json_peek_member(&r, STR("affinityName")), observed);
            const struct str term = json_skip(&r);
            found = is_it ? term : found;
        }
    end_reading(x, &r);
    *ret = (struct str){0};
    if (found.p == NULL)
        return 0;
    x->w = (struct json_writer){.out = &out};
    put_struct(x, term_fields, found);
    return end_writing(x, &out, ret, err);
}

static int compare_ready(struct str placement, const char *root, bool defaults, struct str observed,
                         struct arena *arena, struct comparable *ret, struct err *err) {
    struct writing x = {.arena = arena, .root = root, .compares = true, .defaults = defaults};
    struct str values[FIELDS_MAX];
    int r = take_steps(arena, placement, err);
    if (r == 0)
        split(&x, placement_fields, placement, values);
    for (uint32_t i = 0; r == 0 && i < PLACEMENT_FIELDS; i++) {
        CLEANUP(strbuf_done) struct strbuf out = {0};
        x.w = (struct json_writer){.out = &out};
        if (x.error.code == 0)
            put_field(&x, &placement_fields[i], values[i]);
        r = end_writing(&x, &out, &ret->fields[i], err);
    }
    return r == 0 ? find_term(&x, values[AFFINITIES], observed, &ret->term, err) : r;
}

static bool differs(const struct comparable *a, const struct comparable *b, uint32_t field) {
    return !str_eq(a->fields[field], b->fields[field]);
}

int karmada_placement_changed(struct str placement, struct str applied, struct str observed,
                              struct arena *arena, bool *ret, struct err *err) {
    struct comparable now, before;
    *ret = true;
    if (str_empty(applied))
        return 0;
    int r = compare_ready(placement, "spec.placement", true, observed, arena, &now, err);
    if (r != 0)
        return r;
    r = compare_ready(applied, "applied placement", false, observed, arena, &before, err);
    if (r == -EINVAL) {
        *ret = false; /* upstream logs it and goes on */
        return 0;
    }
    if (r != 0)
        return r;
    if (differs(&now, &before, AFFINITY) || differs(&now, &before, TOLERATIONS) ||
        differs(&now, &before, SPREAD) || differs(&now, &before, SCHEDULING))
        return 0;
    if (!differs(&now, &before, AFFINITIES) && !differs(&now, &before, WORKLOAD)) {
        *ret = false;
        return 0;
    }
    *ret = str_empty(observed) || now.term.p == NULL || before.term.p == NULL ||
           !str_eq(now.term, before.term);
    return 0;
}

/*
 * Any line. It is answered by one JSON object, twice with the same bytes, with the id as it was
 * written or null. A plan selects no cluster twice and none that was not asked about, as many as
 * are wanted or fewer, and says how many fewer; a score is from -100 to 100; a range is none, or
 * goes up.
 */
#include "fuzz/fuzz.h"

#include "base/limits.h"
#include "lines/lines.h"

enum { ARENA_BYTES = 64 << 20, STEPS = 1000000 };

struct answer {
    struct str kind; /* errorKind */
    int64_t value, unscheduled;
    const struct str *selected;
    uint32_t selected_count;
    bool has_low;
    double low, high;
};

static struct answer answer_of(struct str text, struct arena *arena) {
    struct answer a = {0};
    struct json_reader r;
    struct str key;
    json_reader_init(&r, text, arena, "answer");
    require(json_object(&r));
    while (json_member(&r, &key)) {
        if (str_eq(key, STR("errorKind")))
            a.kind = json_string(&r);
        else if (str_eq(key, STR("value")))
            a.value = json_integer(&r, INT64_MIN, INT64_MAX);
        else if (str_eq(key, STR("unscheduled")))
            a.unscheduled = json_integer(&r, 0, INT32_MAX);
        else if (str_eq(key, STR("selected")))
            a.selected = json_string_array(&r, UINT32_MAX, &a.selected_count);
        else if (str_eq(key, STR("low"))) {
            a.has_low = json_peek(&r) != JSON_NULL;
            a.low = json_number(&r);
        } else if (str_eq(key, STR("high")))
            a.high = json_number(&r);
        else
            (void)json_skip(&r); /* id, skew */
    }
    require(json_finish(&r, NULL) == 0);
    return a;
}

static int compare_strings(const void *a, const void *b) {
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void check_plan(const struct answer *a, struct arena *arena) {
    struct str *names = arena_array_unset(arena, a->selected_count, sizeof *names);
    require(names != NULL);
    if (a->selected_count == 0)
        return;
    memcpy(names, a->selected, a->selected_count * sizeof *names);
    qsort(names, a->selected_count, sizeof *names, compare_strings);
    for (uint32_t i = 1; i < a->selected_count; i++)
        require(!str_eq(names[i], names[i - 1]));
    for (uint32_t i = 0; i < a->selected_count; i++)
        require(names[i].n > 0);
}

static bool ask(struct str text, struct strbuf *out) {
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    arena.steps.max = STEPS;
    const bool good = line_answer(text, &arena, out);
    arena_done(&arena);
    return good;
}

static bool is_normalise(struct str text, struct arena *arena) {
    struct line_question q;
    return line_question_read(text, arena, &q, NULL) == 0 &&
           str_eq(str_of(q.step->name), STR("normalise"));
}

static int try_input(const uint8_t *bytes, size_t n) {
    const struct str text = {(const char *)bytes, n};
    struct strbuf out = {0}, again = {0};
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    const bool good = ask(text, &out);
    require(ask(text, &again) == good);
    require(!strbuf_failed(&out) && str_eq(strbuf_str(&out), strbuf_str(&again)));
    require(str_has_prefix(strbuf_str(&out), STR("{\"id\":")));
    const struct answer a = answer_of(strbuf_str(&out), &arena);
    require(str_eq(a.kind, STR("Input")) == !good);
    require(!is_normalise(text, &arena) || (a.value >= -100 && a.value <= 100));
    require(!a.has_low || a.low <= a.high);
    check_plan(&a, &arena);
    strbuf_done(&out);
    strbuf_done(&again);
    arena_done(&arena);
    return 0;
}

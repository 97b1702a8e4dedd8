/*
 * The step `available` combines the answers of several estimators for each cluster. upstream:
 * karmada pkg/scheduler/core util.go calAvailableReplicas() (v1.18.1).
 */
#include "estimator/estimator.h"
#include "lines/steps.h"

#include <errno.h>
#include <stdlib.h>

/* One cluster of the question. */
struct asked {
    struct str name;
    int64_t least;
};

struct available_line {
    int64_t replicas;
    bool has_replicas;
    const struct str *names;
    uint32_t name_count;
    struct str estimates; /* as written in the text; they are read when the names are known */
    const char *begin;
};

static int by_name(const void *a, const void *b) {
    const struct asked *left = a, *right = b;
    return str_cmp(left->name, right->name);
}

/* Sorts the clusters by name, each once. */
static int sort_names(const struct available_line *line, struct arena *arena, struct asked **ret,
                      uint32_t *ret_count) {
    struct asked *asked = arena_array_unset(arena, line->name_count, sizeof *asked);
    uint32_t count = 0;
    if (asked == NULL)
        return -ENOMEM;
    if (!steps_take_sort(&arena->steps, line->name_count))
        return -E2BIG;
    for (uint32_t i = 0; i < line->name_count; i++)
        asked[i] = (struct asked){line->names[i], ESTIMATE_MAX};
    if (line->name_count > 1)
        qsort(asked, line->name_count, sizeof *asked, by_name);
    for (uint32_t i = 0; i < line->name_count; i++)
        if (count == 0 || !str_eq(asked[count - 1].name, asked[i].name))
            asked[count++] = asked[i];
    *ret = asked;
    *ret_count = count;
    return 0;
}

/* Reads the answers of one estimator. Null stands for an estimator that failed, and is no answer.
 * `asked` may be NULL: then the answers are only checked. */
static void answers_decode(struct json_reader *r, struct asked *asked, uint32_t count) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        const int64_t answer = json_integer(r, ESTIMATE_UNKNOWN, ESTIMATE_MAX);
        const struct asked wanted = {.name = key};
        struct asked *found =
            count > 0 ? bsearch(&wanted, asked, count, sizeof *asked, by_name) : NULL;
        if (found != NULL)
            found->least = estimator_least(found->least, answer);
    }
}

static void estimates_decode(struct json_reader *r, struct asked *asked, uint32_t count) {
    struct str key;
    if (json_object(r))
        while (json_member(r, &key))
            answers_decode(r, asked, count);
}

static void line_decode(struct json_reader *r, struct available_line *line) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("replicas"))) {
            line->has_replicas = !json_null(r);
            line->replicas = line->has_replicas ? json_integer(r, 0, INT32_MAX) : 0;
        } else if (str_eq(key, STR("clusters")))
            line->names = json_string_array(r, UINT32_MAX, &line->name_count);
        else if (str_eq(key, STR("estimates"))) {
            (void)json_peek(r); /* skips the blanks */
            line->begin = r->p;
            estimates_decode(r, NULL, 0);
            line->estimates = (struct str){line->begin, (size_t)(r->p - line->begin)};
        }
    }
}

static void put_available(struct json_writer *w, const struct available_line *line,
                          const struct asked *asked, uint32_t count) {
    json_key(w, STR("available"));
    json_begin_object(w);
    for (uint32_t i = 0; i < count; i++) {
        json_key(w, asked[i].name);
        json_put_integer(w, line->replicas == 0
                                ? ESTIMATE_MAX /* without replicas no estimator is asked */
                                : estimator_available(asked[i].least, line->replicas));
    }
    json_end_object(w);
}

int line_available(struct json_reader *r, struct json_writer *w, struct err *err) {
    struct available_line line = {.begin = NULL};
    struct asked *asked;
    uint32_t count;
    line_decode(r, &line);
    int e = json_finish(r, err);
    if (e == 0 && !line.has_replicas)
        return err_set(err, -EINVAL, "question: replicas is required");
    if (e != 0)
        return e;
    e = sort_names(&line, r->arena, &asked, &count);
    if (e != 0)
        return err_set(err, e, "question: too large to be answered");
    if (line.begin != NULL) {
        struct json_reader estimates;
        json_reader_init(&estimates, line.estimates, r->arena, "question.estimates");
        estimates_decode(&estimates, asked, count);
        e = json_finish(&estimates, err);
    }
    if (e == 0)
        put_available(w, &line, asked, count);
    return e;
}

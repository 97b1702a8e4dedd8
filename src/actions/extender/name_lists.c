#include "extender/name_lists.h"

#include "base/json_writer.h"
#include "engine/priority.h"

enum {
    BLOCK = 64,     /* bytes that are copied at a time; most names are shorter */
    SCORE_ROOM = 32 /* size of a piece between two names; less than a block */
};

/*
 * Copies n bytes in whole blocks, so up to BLOCK - 1 bytes too many: `to` has room for these. `end`
 * is the end of the readable source: near it, copies exactly n bytes.
 */
static inline char *put(char *to, const char *from, size_t n, const char *end) {
    if ((size_t)(end - from) < n + BLOCK) {
        memcpy(to, from, n);
        return to + n;
    }
    memcpy(to, from, BLOCK);
    for (size_t done = BLOCK; done < n; done += BLOCK)
        memcpy(to + done, from + done, BLOCK);
    return to + n;
}

static char *put_text(char *to, struct str s) {
    memcpy(to, s.p, s.n);
    return to + s.n;
}

/* Copies the name with its quotes from the body: it is a slice of the body, so it has no
 * escapes. */
static inline char *put_name(char *to, const struct extender_args *args, uint32_t i) {
    struct str name = args->candidates.names[i];
    return put(to, name.p - 1, name.n + 2, args->body.p + args->body.n);
}

/* Are all names slices of the body, with their quotes? *ret_bytes is the sum of their lengths,
 * with quotes and a comma for each name. */
static bool are_slices(const struct extender_args *args, size_t *ret_bytes) {
    uintptr_t body = (uintptr_t)args->body.p;
    size_t bytes = 0;
    bool all = args->nodes == NULL && args->body.n > 0;
    for (uint32_t i = 0; i < args->candidates.count; i++) {
        struct str name = args->candidates.names[i];
        uintptr_t at = (uintptr_t)name.p - body; /* huge if the name is before the body */
        all &= (at - 1 < args->body.n) & (at + name.n < args->body.n);
        bytes += name.n + 3;
    }
    *ret_bytes = bytes;
    return all;
}

/* Returns room for so many bytes and one more block, or NULL. */
static char *reserve(struct strbuf *out, size_t bytes) {
    size_t max = out->max != 0 ? out->max : SIZE_MAX / 2;
    if (bytes > max || out->n > max - bytes || max - bytes - out->n < BLOCK)
        return NULL;
    return strbuf_reserve(out, bytes + BLOCK);
}

/* ---- filter ---- */

/* The text after a refused name, for each reason: :"reason". */
struct reason_pieces {
    struct strbuf text; /* owned; a block longer than its pieces */
    const char *end;    /* end of the text */
    struct str *pieces; /* [reason_count]; arena */
    size_t longest;
};

static bool make_pieces(const struct filter_result *result, struct arena *arena,
                        struct reason_pieces *ret) {
    uint32_t count = result->reason_count;
    struct json_writer w = {.out = &ret->text};
    size_t from = 0;
    ret->pieces = arena_array(arena, count, sizeof *ret->pieces);
    if (ret->pieces == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++, from = ret->text.n) {
        strbuf_append_char(w.out, ':');
        w.comma = false;
        json_put_string(&w, result->reason_texts[i]);
        strbuf_append_char(w.out, ',');
        ret->pieces[i].n = ret->text.n - from;
        ret->longest = ret->pieces[i].n > ret->longest ? ret->pieces[i].n : ret->longest;
    }
    char *behind = strbuf_reserve(&ret->text, BLOCK);
    if (behind == NULL)
        return false;
    memset(behind, 0, BLOCK);
    ret->end = behind + BLOCK;
    from = 0;
    for (uint32_t i = 0; i < count; from += ret->pieces[i].n, i++)
        ret->pieces[i].p = ret->text.p + from;
    return true;
}

/* The candidates by verdict, in order. */
struct lists {
    uint32_t *passed, *refused; /* [candidates.count]; arena */
    uint32_t passed_count, refused_count;
};

/* Fills the lists without a branch on a verdict: a processor could not predict the branch. */
static bool make_lists(const struct extender_args *args, const struct filter_result *result,
                       struct arena *arena, struct lists *ret) {
    uint32_t count = args->candidates.count, passed = 0, refused = 0;
    uint32_t *lists = arena_array_unset(arena, 2 * (size_t)count, sizeof *lists);
    if (lists == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        bool pass = result == NULL || result->verdicts[i] == VERDICT_PASS;
        lists[passed] = lists[count + refused] = i;
        passed += pass;
        refused += !pass;
    }
    *ret = (struct lists){lists, lists + count, passed, refused};
    return true;
}

/* Replaces the comma after the last item, if there is an item, by the bracket. */
static char *close_list(char *to, const char *begin, char bracket) {
    to -= to != begin;
    *to = bracket;
    return to + 1;
}

static char *put_refused(char *to, const struct extender_args *args,
                         const struct filter_result *result, const struct lists *lists,
                         const struct reason_pieces *reasons, enum verdict verdict) {
    const char *begin = to;
    for (uint32_t i = 0; result != NULL && i < lists->refused_count; i++) {
        uint32_t candidate = lists->refused[i];
        if (result->verdicts[candidate] != verdict)
            continue;
        struct str reason = reasons->pieces[result->reasons[candidate]];
        to = put_name(to, args, candidate);
        to = put(to, reason.p, reason.n, reasons->end);
    }
    return close_list(to, begin, '}');
}

#define BEFORE_NAMES "{\"Nodes\":null,\"NodeNames\":["
#define BEFORE_FAILED ",\"FailedNodes\":{"
#define BEFORE_UNRESOLVABLE ",\"FailedAndUnresolvableNodes\":{"
#define BEHIND_ALL ",\"Error\":\"\"}"

static void put_filter(char *to, const struct extender_args *args,
                       const struct filter_result *result, const struct lists *lists,
                       const struct reason_pieces *reasons, struct strbuf *out) {
    const char *begin = to = put_text(to, STR(BEFORE_NAMES));
    for (uint32_t i = 0; i < lists->passed_count; i++) {
        to = put_name(to, args, lists->passed[i]);
        *to++ = ',';
    }
    to = put_text(close_list(to, begin, ']'), STR(BEFORE_FAILED));
    to = put_refused(to, args, result, lists, reasons, VERDICT_UNSCHEDULABLE);
    to = put_text(to, STR(BEFORE_UNRESOLVABLE));
    to = put_refused(to, args, result, lists, reasons, VERDICT_UNRESOLVABLE);
    to = put_text(to, STR(BEHIND_ALL));
    out->n = (size_t)(to - out->p);
}

static bool filter_with(const struct extender_args *args, const struct filter_result *result,
                        struct arena *arena, struct reason_pieces *reasons, struct strbuf *out) {
    struct lists lists;
    size_t bytes;
    if (!are_slices(args, &bytes) || !make_lists(args, result, arena, &lists) ||
        (result != NULL && !make_pieces(result, arena, reasons)))
        return false;
    /* a bracket replaces the comma after the list's last item; + 3 is for the brackets of empty
     * lists */
    bytes += sizeof BEFORE_NAMES BEFORE_FAILED BEFORE_UNRESOLVABLE BEHIND_ALL + 3;
    bytes += lists.refused_count * reasons->longest;
    char *to = reserve(out, bytes);
    if (to != NULL)
        put_filter(to, args, result, &lists, reasons, out);
    return to != NULL;
}

bool name_list_filter(const struct extender_args *args, const struct filter_result *result,
                      struct arena *arena, struct strbuf *out) {
    struct reason_pieces reasons = {.longest = 0};
    bool done = filter_with(args, result, arena, &reasons, out);
    strbuf_done(&reasons.text);
    return done;
}

/* ---- prioritize ---- */

#define BEFORE_HOST "{\"Host\":"

/* The text between one name and the next: ,"Score":7},{"Host": */
struct score_piece {
    char bytes[SCORE_ROOM];
    uint32_t n; /* 0: not made yet */
};

static void make_score(int32_t score, struct score_piece *ret) {
    struct strbuf text = {.p = ret->bytes, .cap = SCORE_ROOM, .max = SCORE_ROOM};
    struct json_writer w = {.out = &text};
    strbuf_append_str(&text, STR(",\"Score\":"));
    json_put_integer(&w, score);
    strbuf_append_str(&text, STR("}," BEFORE_HOST));
    ret->n = (uint32_t)text.n;
}

bool name_list_scores(const struct extender_args *args, const struct score_result *result,
                      struct strbuf *out) {
    struct score_piece pieces[PRIORITY_STEPS_MAX + 1];
    uint32_t count = args->candidates.count;
    size_t bytes;
    if (count == 0 || !are_slices(args, &bytes))
        return false;
    char *to = reserve(out, bytes + count * (size_t)SCORE_ROOM + sizeof BEFORE_HOST);
    if (to == NULL)
        return false;
    for (uint32_t i = 0; i <= PRIORITY_STEPS_MAX; i++)
        pieces[i].n = 0;
    to = put_text(to, STR("[" BEFORE_HOST));
    for (uint32_t i = 0; i < count; i++) {
        int32_t score = result->priorities[i];
        if (score < 0 || score > PRIORITY_STEPS_MAX)
            return false;
        struct score_piece *piece = &pieces[score];
        if (piece->n == 0)
            make_score(score, piece);
        to = put_name(to, args, i);
        memcpy(to, piece->bytes, SCORE_ROOM);
        to += piece->n;
    }
    to -= sizeof BEFORE_HOST; /* removes the last BEFORE_HOST and its comma */
    *to++ = ']';
    out->n = (size_t)(to - out->p);
    return true;
}

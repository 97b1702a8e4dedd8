#include "cli/explanation.h"

#include "base/json_reader.h"
#include "base/table.h"
#include "explain/reasons.h"
#include "explain/subject.h"

#include <errno.h>
#include <stddef.h>

/* One decision: its words, its numbers, and its lists as they stand in the text. */
struct told {
    struct str verb, result, time, group, kind, namespace, name, generate_name, message, node, by,
        from, policy, replica, uid;
    int64_t number, took_us, data_age_ms, candidates, known, passed, preferred; /* -1: not said */
    bool dry_run, cut;
    struct str ages, constraints, datasets, dropped, scores, notes, warnings, patch;
};

struct answer {
    struct str replica, version;
    struct str not_judged;                                          /* of a what-if */
    struct str cause, state, now, replicas, pod_from, pod_not_read; /* as cli/merged.h has them */
    struct told *items;
    uint32_t count;
};

/* ---- reading ---- */

enum member_kind { WORD, NUMBER, FLAG, LIST };

static const struct member {
    struct str key;
    enum member_kind kind;
    size_t offset;
} members[] = {
#define MEMBER(key, kind, field)                                                                   \
    { {key, sizeof key - 1}, kind, offsetof(struct told, field) }
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
    MEMBER("constraints", LIST, constraints),
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

static void told_item(struct json_reader *r, void *into) {
    struct told *told = into;
    struct str key;
    *told =
        (struct told){.number = -1, .candidates = -1, .known = -1, .passed = -1, .preferred = -1};
    if (json_object(r))
        while (json_member(r, &key)) {
            const struct member *member = member_of(key);
            if (member != NULL)
                read_member(r, member, told);
            else
                (void)json_skip(r); /* of a newer server; errors stay in r */
        }
}

/* The members of an answer but for the decisions. */
static void read_other(struct json_reader *r, struct str key, struct answer *a) {
    static const struct json_string_field replica[] = {
        {{"name", 4}, offsetof(struct answer, replica)},
        {{"version", 7}, offsetof(struct answer, version)}};
    static const struct json_string_field texts[] = {
        {{"notJudged", 9}, offsetof(struct answer, not_judged)},
        {{"podFrom", 7}, offsetof(struct answer, pod_from)},
        {{"podNotRead", 10}, offsetof(struct answer, pod_not_read)}};
    static const struct json_string_field parts[] = {
        {{"cause", 5}, offsetof(struct answer, cause)},
        {{"state", 5}, offsetof(struct answer, state)},
        {{"now", 3}, offsetof(struct answer, now)},
        {{"replicas", 8}, offsetof(struct answer, replicas)}};
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

static int read_answer(struct str json, struct arena *arena, struct answer *ret, struct err *err) {
    enum { MOST = (LIMIT_EXPLAINED + 1) * LIMIT_EXPLAINED_REPLICAS };
    struct json_reader r;
    struct str key;
    *ret = (struct answer){0};
    json_reader_init(&r, json, arena, "Explanation");
    if (json_peek(&r) != JSON_OBJECT)
        json_fail(&r, "expected an object");
    if (json_object(&r))
        while (json_member(&r, &key)) {
            if (str_eq(key, STR("decisions")))
                ret->items = json_array_of(&r, sizeof *ret->items, MOST, told_item, &ret->count);
            else
                read_other(&r, key, ret);
        }
    return json_finish(&r, err);
}

/* ---- lines ---- */

/* A line; `text` may be anybody's, so nothing in it may end the line or move the cursor. */
static void say(struct strbuf *out, const char *before, struct str text, const char *after) {
    strbuf_append_str(out, str_of(before));
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        strbuf_append_char(out, c < 0x20 || c == 0x7f ? '?' : (char)c);
    }
    strbuf_append_str(out, str_of(after));
}

/* ---- one list as a table ---- */

/* Puts one item, which is an object that comes next, into a row. */
typedef void row_fn(struct json_reader *r, struct table *t);

struct listing {
    const char *const *headings;
    uint32_t columns, right_aligned;
    row_fn *row;
};

static int print_list(struct str list, const struct listing *how, struct arena *arena,
                      struct strbuf *out, struct err *err) {
    struct table t;
    struct json_reader r;
    if (list.n == 0 || str_eq(list, STR("[]")))
        return 0;
    table_init(&t, how->headings, how->columns, arena);
    t.right_aligned = how->right_aligned;
    json_reader_init(&r, list, arena, "Explanation.decisions");
    if (json_array(&r))
        while (json_element(&r))
            how->row(&r, &t);
    int failed = json_finish(&r, err);
    if (failed != 0)
        return failed;
    strbuf_append_char(out, '\n');
    return table_render(&t, out) ? 0 : err_set(err, -ENOMEM, "no memory for the table");
}

struct row_constraint {
    struct str from, rule, topology_key, when, selector;
};

static void constraint_row(struct json_reader *r, struct table *t) {
    static const struct json_string_field fields[] = {
        {{"from", 4}, offsetof(struct row_constraint, from)},
        {{"rule", 4}, offsetof(struct row_constraint, rule)},
        {{"topologyKey", 11}, offsetof(struct row_constraint, topology_key)},
        {{"whenUnsatisfiable", 17}, offsetof(struct row_constraint, when)},
        {{"selector", 8}, offsetof(struct row_constraint, selector)}};
    static const struct str numbers[] = {
        {"maxSkew", 7}, {"minDomains", 10}, {"domains", 7}, {"fewestPods", 10}};
    struct row_constraint words = {0};
    int64_t values[4] = {-1, -1, -1, -1};
    struct json_reader ahead = *r;
    struct str key;
    json_strings_of(&ahead, fields, sizeof fields / sizeof fields[0], &words);
    if (json_object(r))
        while (json_member(r, &key)) {
            size_t i = 0;
            while (i < 4 && !str_eq(key, numbers[i]))
                i++;
            if (i < 4)
                values[i] = json_integer(r, 0, INT64_MAX);
            else
                (void)json_skip(r); /* read above; errors stay in r */
        }
    table_cellf(t, "%.*s%s%.*s", STR_ARG(words.from), words.rule.n > 0 ? " " : "",
                STR_ARG(words.rule));
    table_cell(t, words.topology_key);
    table_cell(t, words.when);
    for (size_t i = 0; i < 4; i++) {
        if (values[i] >= 0)
            table_number(t, values[i]);
        else
            table_cell(t, STR("-"));
    }
    table_cell(t, words.selector);
}

static const char *const constraint_headings[] = {
    "CONSTRAINT OF", "TOPOLOGY KEY", "WHEN UNSATISFIABLE", "MAX SKEW",
    "MIN DOMAINS",   "DOMAINS",      "FEWEST PODS",        "COUNTS"};
static const struct listing constraints = {constraint_headings, 8,
                                           1u << 3 | 1u << 4 | 1u << 5 | 1u << 6, constraint_row};

/* ---- the domains of each constraint ---- */

/* "3 cordoned, 1 Insufficient cpu" */
static struct str join_refused(struct json_reader *r, struct arena *arena) {
    struct strbuf text = {.max = LIMIT_CONFIG_BYTES};
    struct str key;
    if (json_array(r))
        while (json_element(r)) {
            struct str reason = STR("");
            int64_t nodes = 0;
            if (json_object(r))
                while (json_member(r, &key)) {
                    if (str_eq(key, STR("reason")))
                        reason = json_string(r);
                    else if (str_eq(key, STR("nodes")))
                        nodes = json_integer(r, 0, INT64_MAX);
                    else
                        (void)json_skip(r); /* errors stay in r */
                }
            strbuf_appendf(&text, "%s%lld %.*s", text.n > 0 ? ", " : "", (long long)nodes,
                           STR_ARG(reason_words(reason)));
        }
    struct str joined = arena_str(arena, strbuf_str(&text));
    strbuf_done(&text);
    return joined;
}

static void domain_row(struct json_reader *r, struct table *t) {
    static const struct str numbers[] = {{"pods", 4}, {"nodes", 5}, {"passed", 6}};
    struct str key, domain = STR(""), refused = STR("");
    int64_t values[3] = {0};
    bool allowed = false, counted = true;
    if (json_object(r))
        while (json_member(r, &key)) {
            size_t i = 0;
            while (i < 3 && !str_eq(key, numbers[i]))
                i++;
            if (i < 3)
                values[i] = json_integer(r, 0, INT64_MAX);
            else if (str_eq(key, STR("domain")))
                domain = json_string(r);
            else if (str_eq(key, STR("allowed")))
                allowed = json_bool(r);
            else if (str_eq(key, STR("counted")))
                counted = json_bool(r);
            else if (str_eq(key, STR("refused")))
                refused = join_refused(r, t->arena);
            else
                (void)json_skip(r); /* of a newer server; errors stay in r */
        }
    table_cell(t, str_empty(domain) ? STR("\"\"") : domain);
    if (counted)
        table_number(t, values[0]);
    else
        table_cell(t, STR("not counted"));
    table_cell(t, allowed ? STR("yes") : STR("no"));
    table_number(t, values[1]);
    table_number(t, values[2]);
    table_cell(t, refused);
}

struct row_domains {
    struct str key, meaning, reports;
    int64_t left_out;
};

static void read_domains(struct json_reader *r, struct row_domains *ret) {
    struct str key;
    *ret = (struct row_domains){.left_out = 0};
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("topologyKey")))
                ret->key = json_string(r);
            else if (str_eq(key, STR("meaning")))
                ret->meaning = json_string(r);
            else if (str_eq(key, STR("domainReports")))
                ret->reports = json_skip(r);
            else if (str_eq(key, STR("domainReportsLeftOut")))
                ret->left_out = json_integer(r, 0, INT64_MAX);
            else
                (void)json_skip(r); /* errors stay in r */
        }
}

static int print_domains(const struct row_domains *d, struct arena *arena, struct strbuf *out,
                         struct err *err) {
    CLEANUP(strbuf_done) struct strbuf heading = {.max = LIMIT_CONFIG_BYTES};
    say(&heading, "DOMAINS OF ", d->key, "");
    strbuf_append_char(&heading, '\0');
    if (strbuf_failed(&heading))
        return err_set(err, -ENOMEM, "no memory for the table");
    const char *const headings[] = {heading.p, "PODS", "ALLOWED", "NODES", "PASSED", "REFUSED"};
    const struct listing how = {headings, 6, 1u << 1 | 1u << 3 | 1u << 4, domain_row};
    int r = print_list(d->reports, &how, arena, out, err);
    if (d->left_out > 0)
        strbuf_appendf(out, "and %lld more domains\n", (long long)d->left_out);
    if (d->meaning.n > 0)
        say(out, "", d->meaning, "\n");
    return r;
}

/* A table for each constraint whose domains were reported. */
static int print_all_domains(struct str list, struct arena *arena, struct strbuf *out,
                             struct err *err) {
    struct json_reader r;
    struct row_domains d;
    int failed = 0;
    if (list.n == 0)
        return 0;
    json_reader_init(&r, list, arena, "Explanation.decisions");
    if (json_array(&r))
        while (failed == 0 && json_element(&r)) {
            read_domains(&r, &d);
            if (d.reports.n > 0)
                failed = print_domains(&d, arena, out, err);
        }
    return failed == 0 ? json_finish(&r, err) : failed;
}

/* "a, b, c" of an array of strings. */
static struct str join(struct json_reader *r, struct arena *arena) {
    struct strbuf text = {.max = LIMIT_CONFIG_BYTES};
    uint32_t count;
    const struct str *names = json_string_array(r, LIMIT_NODE_NAMES, &count);
    for (uint32_t i = 0; i < count; i++) {
        strbuf_append_str(&text, i > 0 ? STR(", ") : STR(""));
        strbuf_append_str(&text, names[i]);
    }
    struct str joined = arena_str(arena, strbuf_str(&text));
    strbuf_done(&text);
    return joined;
}

static void dropped_row(struct json_reader *r, struct table *t) {
    struct str key, verdict = STR(""), reason = STR(""), names = STR("");
    int64_t nodes = 0;
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("verdict")))
                verdict = json_string(r);
            else if (str_eq(key, STR("reason")))
                reason = json_string(r);
            else if (str_eq(key, STR("nodes")))
                nodes = json_integer(r, 0, INT64_MAX);
            else if (str_eq(key, STR("names")))
                names = join(r, t->arena);
            else
                (void)json_skip(r); /* of a newer server; errors stay in r */
        }
    table_number(t, nodes);
    table_cell(t, verdict);
    table_cell(t, reason);
    table_cell(t, names);
}

static const char *const dropped_headings[] = {"DROPPED", "VERDICT", "REASON", "NODES"};
static const struct listing dropped = {dropped_headings, 4, 1u << 0, dropped_row};

static void read_score(struct json_reader *r, struct str algorithm, struct strbuf *out) {
    struct str key;
    int64_t raw = 0, normalized = 0;
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("raw")))
                raw = json_integer(r, INT64_MIN, INT64_MAX);
            else if (str_eq(key, STR("normalized")))
                normalized = json_integer(r, INT64_MIN, INT64_MAX);
            else
                (void)json_skip(r); /* of a newer server; errors stay in r */
        }
    strbuf_appendf(out, "%s%.*s %lld (raw %lld)", out->n > 0 ? ", " : "", STR_ARG(algorithm),
                   (long long)normalized, (long long)raw);
}

/* Those of kube-scheduler's own plugins. */
static void read_in_tree(struct json_reader *r, struct strbuf *out) {
    struct str plugin;
    if (json_object(r))
        while (json_member(r, &plugin)) {
            int64_t score = json_integer(r, INT64_MIN, INT64_MAX);
            strbuf_appendf(out, "%s%.*s %lld", out->n > 0 ? ", " : "", STR_ARG(plugin),
                           (long long)score);
        }
}

/* ---- the datasets that locality went by ---- */

/* "a 40Gi, b 60Gi and 3 more" */
static struct str join_holders(struct json_reader *r, struct arena *arena) {
    struct strbuf text = {.max = LIMIT_CONFIG_BYTES};
    struct str key;
    if (json_array(r))
        while (json_element(r)) {
            struct str node = STR("");
            int64_t bytes = -1;
            if (json_object(r))
                while (json_member(r, &key)) {
                    if (str_eq(key, STR("node")))
                        node = json_string(r);
                    else if (str_eq(key, STR("bytes")))
                        bytes = json_integer(r, 0, INT64_MAX);
                    else
                        (void)json_skip(r); /* errors stay in r */
                }
            strbuf_appendf(&text, "%s%.*s", text.n > 0 ? ", " : "", STR_ARG(node));
            if (bytes >= 0)
                strbuf_appendf(&text, " %lldMi", (long long)(bytes >> 20));
        }
    struct str joined = arena_str(arena, strbuf_str(&text));
    strbuf_done(&text);
    return joined;
}

static void put_mebibytes(struct table *t, int64_t bytes) {
    if (bytes >= 0)
        table_cellf(t, "%lldMi", (long long)(bytes >> 20));
    else
        table_cell(t, STR("not known"));
}

static void dataset_row(struct json_reader *r, struct table *t) {
    static const struct str numbers[] = {{"size", 4}, {"cached", 6}, {"percent", 7}, {"nodes", 5}};
    struct str key, dataset = STR(""), held_by = STR("");
    int64_t values[4] = {-1, -1, -1, -1};
    if (json_object(r))
        while (json_member(r, &key)) {
            size_t i = 0;
            while (i < 4 && !str_eq(key, numbers[i]))
                i++;
            if (i < 4)
                values[i] = json_integer(r, 0, INT64_MAX);
            else if (str_eq(key, STR("dataset")))
                dataset = json_string(r);
            else if (str_eq(key, STR("heldBy")))
                held_by = join_holders(r, t->arena);
            else
                (void)json_skip(r); /* of a newer server; errors stay in r */
        }
    table_cell(t, dataset);
    put_mebibytes(t, values[0]);
    put_mebibytes(t, values[1]);
    table_cellf(t, "%lld %%", (long long)values[2]);
    table_number(t, values[3]);
    table_cell(t, held_by);
}

static const char *const dataset_headings[] = {"DATASET", "SIZE",  "CACHED",
                                               "WEIGHT",  "NODES", "THE FIRST HOLD"};
static const struct listing datasets = {dataset_headings, 6, 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4,
                                        dataset_row};

/* "; ns-data: zone 250": the tier at which a node is, and what that gave of the raw score. */
static void read_nearness(struct json_reader *r, struct strbuf *out) {
    struct str key;
    if (json_array(r))
        while (json_element(r)) {
            struct str dataset = STR(""), tier = STR("");
            int64_t raw = 0;
            if (json_object(r))
                while (json_member(r, &key)) {
                    if (str_eq(key, STR("dataset")))
                        dataset = json_string(r);
                    else if (str_eq(key, STR("tier")))
                        tier = json_string(r);
                    else if (str_eq(key, STR("raw")))
                        raw = json_integer(r, INT64_MIN, INT64_MAX);
                    else
                        (void)json_skip(r); /* errors stay in r */
                }
            strbuf_appendf(out, "; %.*s: %.*s (raw %lld)", STR_ARG(dataset), STR_ARG(tier),
                           (long long)raw);
        }
}

/* Every other member that is an object is an algorithm's score. */
static void score_row(struct json_reader *r, struct table *t) {
    struct strbuf scores = {.max = LIMIT_CONFIG_BYTES};
    struct str key, node = STR("");
    int64_t priority = 0, total = -1;
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("node")))
                node = json_string(r);
            else if (str_eq(key, STR("priority")))
                priority = json_integer(r, INT64_MIN, INT64_MAX);
            else if (str_eq(key, STR("total")))
                total = json_integer(r, INT64_MIN, INT64_MAX);
            else if (str_eq(key, STR("inTree")) && json_peek(r) == JSON_OBJECT)
                read_in_tree(r, &scores);
            else if (str_eq(key, STR("data")) && json_peek(r) == JSON_ARRAY)
                read_nearness(r, &scores);
            else if (json_peek(r) == JSON_OBJECT)
                read_score(r, key, &scores);
            else
                (void)json_skip(r); /* of a newer server; errors stay in r */
        }
    table_cell(t, node);
    table_number(t, priority);
    if (total >= 0)
        table_number(t, total);
    table_cell(t, arena_str(t->arena, strbuf_str(&scores)));
    strbuf_done(&scores);
}

static const char *const score_headings[] = {"BEST NODES", "PRIORITY", "OF 100 BY ALGORITHM"};
static const struct listing scores = {score_headings, 3, 1u << 1, score_row};
static const char *const total_headings[] = {"BEST NODES", "PRIORITY", "TOTAL",
                                             "OF 100 BY ALGORITHM AND PLUGIN"};
static const struct listing totals = {total_headings, 4, 1u << 1 | 1u << 2, score_row};

/* Only a what-if has totals, and of every node. */
static const struct listing *listing_of_scores(struct str list) {
    static const char total[] = "\"total\":";
    bool has = list.n > 0 && memmem(list.p, list.n, total, sizeof total - 1) != NULL;
    return has ? &totals : &scores;
}

struct pair {
    struct str a, b;
};

static void put_pair(struct json_reader *r, const struct json_string_field fields[static 2],
                     struct table *t) {
    struct pair pair = {0};
    json_strings_of(r, fields, 2, &pair);
    table_cell(t, pair.a);
    table_cell(t, pair.b);
}

static void note_row(struct json_reader *r, struct table *t) {
    static const struct json_string_field fields[] = {{{"plugin", 6}, offsetof(struct pair, a)},
                                                      {{"note", 4}, offsetof(struct pair, b)}};
    put_pair(r, fields, t);
}

/* A value that did not fit is told by its length. */
static void patch_row(struct json_reader *r, struct table *t) {
    struct str key, path = STR(""), value = STR("");
    int64_t bytes = -1;
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("path")))
                path = json_string(r);
            else if (str_eq(key, STR("value")))
                value = json_string(r);
            else if (str_eq(key, STR("valueBytes")))
                bytes = json_integer(r, 0, INT64_MAX);
            else
                (void)json_skip(r); /* errors stay in r */
        }
    table_cell(t, path);
    if (bytes >= 0)
        table_cellf(t, "(%lld bytes, which were not kept)", (long long)bytes);
    else
        table_cell(t, value);
}

static void warning_row(struct json_reader *r, struct table *t) {
    table_cell(t, json_string(r));
}

static const char *const note_headings[] = {"PLUGIN", "NOTE"};
static const struct listing notes = {note_headings, 2, 0, note_row};
static const char *const patch_headings[] = {"PATCHED", "WITH"};
static const struct listing patch = {patch_headings, 2, 0, patch_row};
static const char *const warning_headings[] = {"WARNINGS"};
static const struct listing warnings = {warning_headings, 1, 0, warning_row};

/* ---- what a decision means to kube-scheduler ---- */

/* Does an item of the list, by these two of its members, satisfy `wanted`? */
static bool any_item(struct str list, const struct json_string_field fields[static 2],
                     bool (*wanted)(const struct pair *), struct arena *arena) {
    struct json_reader r;
    bool found = false;
    json_reader_init(&r, list, arena, "Explanation.decisions");
    if (json_array(&r))
        while (!found && json_element(&r)) {
            struct pair pair = {0};
            json_strings_of(&r, fields, 2, &pair);
            found = wanted(&pair);
        }
    return found;
}

static bool is_hard_and_ours(const struct pair *constraint) {
    return !str_eq(constraint->a, STR("pod")) && str_eq(constraint->b, STR("DoNotSchedule"));
}

static bool could_be_made_room(const struct pair *drop) {
    return str_eq(drop->a, STR("Unschedulable"));
}

/* upstream: kube-scheduler preemption.go DryRunPreemption, which asks no extender. */
static void say_who_evicts(const struct told *told, struct arena *arena, struct strbuf *out) {
    static const struct json_string_field constraint[] = {{{"from", 4}, offsetof(struct pair, a)},
                                                          {{"whenUnsatisfiable", 17},
                                                           offsetof(struct pair, b)}},
                                          drop[] = {{{"verdict", 7}, offsetof(struct pair, a)},
                                                    {{"reason", 6}, offsetof(struct pair, b)}};
    if (any_item(told->constraints, constraint, is_hard_and_ours, arena) &&
        any_item(told->dropped, drop, could_be_made_room, arena))
        strbuf_appendf(out, "\nkube-scheduler evicts no pod to make room under a constraint of "
                            "defaults or of a rule, unless it is configured with the same.\n");
}

/* ---- whole decisions ---- */

/* Older daemons decide about pods only, and do not say so. */
static struct subject subject_of(const struct told *told) {
    struct str name = told->name.n > 0 ? told->name : told->generate_name;
    struct subject pod = subject_pod(told->namespace, name);
    return str_empty(told->kind) || str_eq(told->kind, pod.kind)
               ? pod
               : (struct subject){told->group, told->kind, told->namespace, name};
}

/* "nodes heard 12 ms and pods 3 ms before", of what was used. Files and older daemons have one
 * age. */
static void say_ages(const struct told *told, struct arena *arena, struct strbuf *out) {
    struct json_reader r;
    struct str kind;
    bool said = false;
    json_reader_init(&r, told->ages, arena, "Explanation.decisions");
    if (told->ages.n > 0 && json_object(&r))
        while (json_member(&r, &kind)) {
            int64_t ms = json_integer(&r, INT64_MIN, INT64_MAX);
            say(out, said ? ", " : "", kind, "");
            strbuf_appendf(out, " heard %lld ms before", (long long)ms);
            said = true;
        }
    if (!said)
        strbuf_appendf(out, "from data %lld ms old", (long long)told->data_age_ms);
}

static void print_head(const struct told *told, struct arena *arena, struct strbuf *out) {
    strbuf_append_char(out, '\n');
    if (told->number >= 0)
        strbuf_appendf(out, "#%lld ", (long long)told->number);
    if (told->replica.n > 0)
        say(out, "of ", told->replica, " ");
    say(out, "", told->verb, ": ");
    say(out, "", told->result, ", ");
    say(out, "", told->time, "");
    strbuf_appendf(out, ", in %lld us, ", (long long)told->took_us);
    say_ages(told, arena, out);
    strbuf_appendf(out, "%s%s\n", told->dry_run ? ", a dry run" : "",
                   told->cut ? ", of which only a part was kept" : "");
    if (told->message.n > 0)
        say(out, "", told->message, "\n");
    if (told->generate_name.n > 0)
        say(out, "as a pod of ", told->generate_name, "*, before it had its name\n");
    if (told->policy.n > 0)
        say(out, "by policy ", told->policy, "\n");
    if (told->node.n > 0)
        say(out, "to node ", told->node, "\n");
    if (told->by.n > 0)
        say(out, "asked for by ", told->by, told->from.n > 0 ? "" : "\n");
    if (told->from.n > 0)
        say(out, told->by.n > 0 ? ", from " : "asked for from ", told->from, "\n");
    if (told->passed >= 0)
        strbuf_appendf(out, "%lld of %lld nodes passed\n", (long long)told->passed,
                       (long long)told->candidates);
    else if (told->candidates >= 0)
        strbuf_appendf(out, "%lld nodes scored\n", (long long)told->candidates);
    if (told->known > told->candidates)
        strbuf_appendf(out, "%lld other nodes were not offered by kube-scheduler\n",
                       (long long)(told->known - told->candidates));
    if (told->preferred >= 0)
        strbuf_appendf(
            out,
            "%lld of the best preferred, all in one domain: there the pod counts until it "
            "is seen\n",
            (long long)told->preferred);
}

static int print_told(const struct told *told, struct arena *arena, struct strbuf *out,
                      struct err *err) {
    const struct {
        struct str list;
        const struct listing *how;
    } lists[] = {{told->constraints, &constraints},
                 {told->dropped, &dropped},
                 {told->datasets, &datasets},
                 {told->scores, listing_of_scores(told->scores)},
                 {told->notes, &notes},
                 {told->warnings, &warnings},
                 {told->patch, &patch}};
    int r = 0;
    print_head(told, arena, out);
    for (size_t i = 0; r == 0 && i < sizeof lists / sizeof lists[0]; i++) {
        r = print_list(lists[i].list, lists[i].how, arena, out, err);
        if (r == 0 && i == 0)
            r = print_all_domains(told->constraints, arena, out, err);
    }
    if (r == 0)
        say_who_evicts(told, arena, out);
    return r;
}

static int check_memory(const struct arena *arena, const struct strbuf *out, struct err *err) {
    if (arena_failed(arena) || strbuf_failed(out))
        return err_set(err, -ENOMEM, "no memory for the answer");
    return 0;
}

/* ---- the object itself, and who was asked ---- */

static struct str member_text(struct str object, struct str key, struct arena *arena) {
    struct json_reader r;
    if (object.n == 0)
        return STR("");
    json_reader_init(&r, object, arena, "Explanation");
    return json_peek_member(&r, key);
}

struct row_replica {
    struct str server, error;
    bool answered;
};

static void read_replica(struct json_reader *r, struct row_replica *ret) {
    struct str key;
    *ret = (struct row_replica){.answered = false};
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("server")))
                ret->server = json_string(r);
            else if (str_eq(key, STR("error")))
                ret->error = json_string(r);
            else if (str_eq(key, STR("answered")))
                ret->answered = json_bool(r);
            else
                (void)json_skip(r); /* errors stay in r */
        }
}

/* Only if some did not answer: then decisions may be missing. */
static void say_silent(struct str list, struct arena *arena, struct strbuf *out) {
    CLEANUP(strbuf_done) struct strbuf silent = {0};
    uint32_t count = 0, answered = 0;
    struct row_replica row;
    struct json_reader r;
    if (list.n == 0)
        return;
    json_reader_init(&r, list, arena, "Explanation.replicas");
    if (json_array(&r))
        while (json_element(&r)) {
            read_replica(&r, &row);
            count++;
            answered += row.answered;
            if (!row.answered) {
                say(&silent, "no answer from ", row.server, ": ");
                say(&silent, "", row.error, "\n");
            }
        }
    if (answered == count)
        return;
    strbuf_appendf(out, "%u of %u replicas answered; decisions of the others are missing\n",
                   answered, count);
    strbuf_append_str(out, strbuf_str(&silent));
}

static void say_condition(struct str state, struct arena *arena, struct strbuf *out) {
    struct json_reader r;
    struct str key, condition = STR("");
    if (state.n == 0)
        return;
    json_reader_init(&r, state, arena, "Explanation.state");
    if (json_object(&r))
        while (json_member(&r, &key)) {
            struct str value = json_skip(&r);
            if (str_eq(key, STR("podScheduled")))
                condition = value;
        }
    if (str_eq(member_text(condition, STR("status"), arena), STR("False"))) {
        struct str since = member_text(condition, STR("since"), arena);
        say(out, "PodScheduled is False", since.n > 0 ? STR(" since ") : since, "");
        say(out, "", since, "");
        say(out, ", ", member_text(condition, STR("reason"), arena), ": ");
        say(out, "", member_text(condition, STR("message"), arena), "\n");
    }
}

/* The first lines. */
static void say_state(const struct answer *a, const struct subject *subject, struct arena *arena,
                      struct strbuf *out) {
    CLEANUP(strbuf_done) struct strbuf name = {0};
    if (a->cause.n > 0) {
        const struct subject asked = !str_empty(subject->name) || a->count == 0
                                         ? *subject
                                         : subject_of(&a->items[a->count - 1]);
        subject_print(&asked, &name);
        say(out, "", strbuf_str(&name), ": ");
        say(out, "", member_text(a->cause, STR("text"), arena), "\n");
        say_condition(a->state, arena, out);
        if (a->pod_from.n > 0)
            say(out, "the pod as ", a->pod_from, " has it\n");
    }
    say_silent(a->replicas, arena, out);
    if (a->cause.n > 0 || out->n > 0)
        strbuf_append_char(out, '\n');
}

/* ---- an answer ---- */

static int print_decisions(const struct answer *a, struct arena *arena, struct strbuf *out,
                           struct err *err) {
    int r = 0;
    if (a->count > 0) {
        CLEANUP(strbuf_done) struct strbuf name = {0};
        const struct subject last = subject_of(&a->items[a->count - 1]);
        subject_print(&last, &name);
        say(out, "", strbuf_str(&name), ", ");
    }
    say(out, "by replica ", a->replica, "");
    say(out, " (evenkeel ", a->version, ")\n");
    struct str uid = member_text(a->state, STR("uid"), arena);
    for (uint32_t i = 0; r == 0 && i < a->count; i++) {
        r = print_told(&a->items[i], arena, out, err);
        if (uid.n > 0 && a->items[i].uid.n > 0 && !str_eq(uid, a->items[i].uid))
            strbuf_append_str(out, STR("This was about another pod of the same name.\n"));
    }
    if (!str_empty(a->not_judged))
        say(out, "\nnot judged: ", a->not_judged, "\n");
    return r;
}

static int print_now(struct str now, struct arena *arena, struct strbuf *out, struct err *err) {
    struct answer a;
    if (now.n == 0)
        return 0;
    int r = read_answer(now, arena, &a, err);
    strbuf_append_str(out, STR("\njudged now, as a what-if: "));
    return r == 0 ? print_decisions(&a, arena, out, err) : r;
}

int explanation_print(struct str json, const struct subject *subject, struct arena *arena,
                      struct strbuf *out, struct err *err) {
    struct answer a;
    int r = read_answer(json, arena, &a, err);
    if (r != 0)
        return r;
    say_state(&a, subject, arena, out);
    if (a.count == 0 && a.now.n > 0)
        strbuf_append_str(out, STR("no decision about it is kept\n"));
    else
        r = print_decisions(&a, arena, out, err);
    if (r == 0)
        r = print_now(a.now, arena, out, err);
    if (a.pod_not_read.n > 0)
        say(out, "\nthe pod itself was not read: ", a.pod_not_read, "\n");
    return r == 0 ? check_memory(arena, out, err) : r;
}

/* A pod by its name alone, for most decisions are about pods. */
static void put_object(struct table *t, const struct told *told) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    const struct subject s = subject_of(told);
    const struct subject pod = subject_pod(s.namespace, s.name);
    if (subject_eq(&s, &pod))
        strbuf_appendf(&text, "%.*s/%.*s", STR_ARG(s.namespace), STR_ARG(s.name));
    else
        subject_print(&s, &text);
    table_cellf(t, "%.*s%s", STR_ARG(strbuf_str(&text)), told->name.n > 0 ? "" : "*");
}

int explanation_print_list(struct str json, struct arena *arena, struct strbuf *out,
                           struct err *err) {
    static const char *const headings[] = {"NUMBER", "TIME",   "VERB",   "OBJECT",
                                           "NODES",  "RESULT", "MESSAGE"};
    struct answer a;
    struct table t;
    int r = read_answer(json, arena, &a, err);
    if (r != 0)
        return r;
    table_init(&t, headings, sizeof headings / sizeof headings[0], arena);
    t.right_aligned = 1u << 0;
    for (uint32_t i = 0; i < a.count; i++) {
        const struct told *told = &a.items[i];
        table_number(&t, told->number);
        table_cell(&t, told->time);
        table_cell(&t, told->verb);
        put_object(&t, told);
        if (told->node.n > 0)
            table_cell(&t, told->node);
        else if (told->passed >= 0)
            table_cellf(&t, "%lld of %lld", (long long)told->passed, (long long)told->candidates);
        else if (told->candidates >= 0)
            table_number(&t, told->candidates);
        else
            table_cell(&t, STR("-"));
        table_cell(&t, told->result);
        table_cell(&t, told->message);
    }
    if (!table_render(&t, out))
        return err_set(err, -ENOMEM, "no memory for the table");
    say_silent(a.replicas, arena, out);
    return check_memory(arena, out, err);
}

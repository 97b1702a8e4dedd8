/* State files: what is read, what is refused, what counts as changed. */
#include "state/file_source.h"

#include "base/file.h"
#include "cache/file_target.h"
#include "unit/cache/probe.h"
#include "yaml/manifests.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define NODE(name) "{\"kind\":\"Node\",\"metadata\":{\"name\":\"" name "\"}}"
#define POD(name, node)                                                                            \
    "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name "\",\"labels\":{\"app\":\"foo\"}},"         \
    "\"spec\":{\"nodeName\":\"" node "\"}}"
#define LIST(items) "{\"kind\":\"List\",\"items\":[" items "]}"

struct fixture {
    struct cluster c;
    char folder[64];
    struct file_source *source;
    struct file_source_result result;
    struct err err;
};

static const char *in_folder(const struct fixture *f, const char *name) {
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    (void)snprintf(path, sizeof paths[0], "%s/%s", f->folder, name); /* fits */
    return path;
}

static void put(const struct fixture *f, const char *name, struct str bytes) {
    struct err err = {0};
    if (file_write_atomic(in_folder(f, name), bytes, 0600, &err) != 0)
        fail_msg("%s", err.text);
}

/* The source reads the whole folder. */
static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.folder = "/tmp/evenkeel-test-XXXXXX"};
    if (mkdtemp(f.folder) == NULL)
        return -1;
    cluster_open(&f.c);
    const char *path = f.folder;
    *state = &f;
    return file_source_new(&path, 1, cache_file_target(f.c.cache), &f.source, &f.err);
}

static int teardown(void **state) {
    struct fixture *f = *state;
    file_source_free(f->source);
    cluster_close(&f->c);
    DIR *dir = opendir(f->folder);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;)
        if (entry->d_name[0] != '.' || entry->d_name[1] == 'h')
            (void)remove(in_folder(f, entry->d_name)); /* rmdir() below tells */
    return dir == NULL || closedir(dir) != 0 || rmdir(f->folder) != 0;
}

static int load(struct fixture *f) {
    f->err = (struct err){0};
    return file_source_load(f->source, &f->result, &f->err);
}

static void load_well(struct fixture *f) {
    if (load(f) != 0)
        fail_msg("%s", f->err.text);
}

/* Loading must fail with this code and words, and leave the cache alone. */
static void load_badly(struct fixture *f, int code, const char *words) {
    struct cache_stats before = cache_stats(f->c.cache);
    assert_int_equal(load(f), code);
    assert_contains(f->err.text, words);
    struct cache_stats after = cache_stats(f->c.cache);
    assert_memory_equal(&before, &after, sizeof before);
}

static void check(struct fixture *f, uint32_t nodes, uint32_t pods) {
    struct cache_stats stats = cache_stats(f->c.cache);
    assert_int_equal(stats.nodes, nodes);
    assert_int_equal(stats.pods, pods);
}

/* ---- forms ---- */

static void every_form_of_document_is_read(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *what, *name, *text;
        uint32_t objects, nodes, pods;
    } forms[] = {
        {"single", "s.json", NODE("a"), 1, 1, 0},
        {"List", "s.json", LIST(NODE("a") "," POD("p", "a") "," NODE("b")), 3, 2, 1},
        {"List, kind last", "s.json", "{\"items\":[" NODE("a") "],\"kind\":\"List\"}", 1, 1, 0},
        {"NodeList whose items have no kind", "s.json",
         "{\"kind\":\"NodeList\",\"items\":[{\"metadata\":{\"name\":\"a\"}},"
         "{\"metadata\":{\"name\":\"b\"}}]}",
         2, 2, 0},
        {"the same, its kind behind an escape", "s.json",
         "{\"kind\":\"Node\\u004cist\",\"items\":[{\"metadata\":{\"name\":\"\\u0061\"}},"
         "{\"metadata\":{\"name\":\"\\u0062\"}},{\"metadata\":{\"name\":\"c\"}}]}",
         3, 3, 0},
        {"lists in a list", "s.json",
         LIST(
             NODE("a") ",{\"kind\":\"NodeList\",\"items\":[{\"metadata\":{\"name\":\"b\"}}]}," LIST(
                 POD("p", "b") "," LIST(NODE("c")))),
         4, 3, 1},
        {"empty list", "s.json", LIST(""), 0, 0, 0},
        {"null items", "s.json", "{\"kind\":\"List\",\"items\":null}", 0, 0, 0},
        {"kinds nobody needs", "s.json",
         LIST("{\"kind\":\"ConfigMap\"}," NODE("a") ",{\"kind\":\"AllowList\",\"x\":1},null"), 1, 1,
         0},
        {"JSON in a .yaml file", "s.yaml", " " LIST(NODE("a")), 1, 1, 0},
        {"JSON documents in a .yaml file", "s.yaml",
         NODE("a") "\n---\n" LIST(POD("p", "a") "," NODE("b")) "\r\n---\r\n" NODE("c") "\n", 4, 3,
         1},
        {"JSON documents, an empty one between them and behind them", "s.yml",
         "\n" NODE("a") "\n---\n\n--- " NODE("b") "\n---", 2, 2, 0},
        {"JSON and YAML documents", "s.yaml",
         NODE("a") "\n---\nkind: Node\nmetadata: {name: b}\n---\n" NODE("c"), 3, 3, 0},
        {"JSON documents behind a divider", "s.yaml", "---\n" NODE("a") "\n---\n" NODE("b"), 2, 2,
         0},
        {"three hyphens in a string", "s.yaml",
         "{\"kind\":\"Node\",\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":\"\\n---\"}}}\n---"
         "\n" NODE("b"),
         2, 2, 0},
        {"YAML with braces", "s.yaml", " { kind: Node, metadata: {name: a}}", 1, 1, 0},
        {"YAML", "s.yaml", "kind: Node\nmetadata:\n  name: a\n  labels: {zone: \"1\"}\n", 1, 1, 0},
        {"YAML documents", "s.yml",
         "---\nkind: Node\nmetadata: {name: a}\n---\n---\nkind: List\nitems:\n"
         "- kind: Pod\n  metadata: {name: p}\n  spec: {nodeName: a}\n- kind: Node\n"
         "  metadata: {name: b}\n...\n",
         3, 2, 1},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        put(f, forms[i].name, str_of(forms[i].text));
        if (load(f) != 0)
            fail_msg("%s: %s", forms[i].what, f->err.text);
        if (f->result.objects != forms[i].objects)
            fail_msg("%s: %u objects", forms[i].what, f->result.objects);
        assert_int_equal(f->result.files, 1);
        check(f, forms[i].nodes, forms[i].pods);
        assert_int_equal(remove(in_folder(f, forms[i].name)), 0);
    }
}

/* Applying goes in batches: none of many objects may get lost between two. */
static void many_objects(void **state) {
    struct fixture *f = *state;
    struct strbuf text = {0};
    strbuf_append_str(&text, STR("{\"kind\":\"List\",\"items\":["));
    for (int i = 0; i < 1000; i++)
        strbuf_appendf(&text, "%s" POD("p%d", "n%d"), i > 0 ? "," : "", i, i % 7);
    strbuf_append_str(&text, STR("]}"));
    put(f, "a.json", strbuf_str(&text));
    strbuf_done(&text);
    load_well(f);
    assert_int_equal(f->result.objects, 1000);
    check(f, 0, 1000);
}

/* ---- which files ---- */

static void a_folder_gives_its_state_files_in_name_order(void **state) {
    struct fixture *f = *state;
    struct selector all = cluster_selector(&f->c, "{}");
    put(f, "2.yaml", STR("kind: Pod\nmetadata: {name: p}\nspec: {nodeName: b}\n"));
    put(f, "1.json", STR(POD("p", "a")));
    put(f, "nodes.yml", STR("kind: Node\nmetadata: {name: b}\n"));
    put(f, "notes.txt", STR("not a state file"));
    put(f, ".hidden.json", STR("neither"));
    load_well(f);
    assert_int_equal(f->result.files, 3);
    check(f, 1, 1);
    assert_int_equal(probe_count(f->c.cache, "default", &all, "b"), 1); /* the later word counts */
}

static void files_and_folders_may_be_named_together(void **state) {
    struct fixture *f = *state;
    struct file_source *source;
    struct file_source_result result;
    put(f, "a.json", STR(NODE("a")));
    put(f, "any-name", STR(NODE("b")));
    char file[128];
    (void)snprintf(file, sizeof file, "%s/any-name", f->folder); /* fits */
    const char *paths[] = {file, f->folder};
    assert_int_equal(file_source_new(paths, 2, cache_file_target(f->c.cache), &source, NULL), 0);
    assert_int_equal(file_source_load(source, &result, &f->err), 0);
    assert_int_equal(result.files, 2);
    check(f, 2, 0);
    file_source_free(source);
}

static void what_is_missing_is_named(void **state) {
    struct fixture *f = *state;
    struct file_source *source;
    struct file_source_result result;
    const char *path = "/nonexistent/evenkeel/state.json";
    load_badly(f, -ENOENT, "no .json, .yaml or .yml file in '");
    assert_contains(f->err.text, f->folder);
    assert_int_equal(file_source_new(&path, 1, cache_file_target(f->c.cache), &source, NULL), 0);
    assert_int_equal(file_source_load(source, &result, &f->err), -ENOENT);
    assert_contains(f->err.text, path);
    assert_false(file_source_changed(source));
    file_source_free(source);
}

/* ---- what is refused ---- */

/* The first reading applies what it reads at once, later ones look first: neither leaves a trace of
 * a bad file, or of the good one before it. */
static void a_bad_file_is_refused_whole(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *name, *text, *words;
    } bad[] = {
        {"b.json", "", "the text ends"},
        {"b.yaml", "", "no object"},
        {"b.yaml", "# nothing but words\n", "no object"},
        {"b.json", "{\"kind\":\"List\",\"items\":[" NODE("b") ",", "text ends"},
        {"b.json", LIST(NODE("b")) "x", "at byte"},
        {"b.json", "[" NODE("b") "]", "expected a Kubernetes object"},
        {"b.json", "{\"metadata\":{\"name\":\"b\"}}", "expected a Kubernetes object"},
        {"b.json", LIST(NODE("b") ",{\"kind\":\"Node\",\"metadata\":{}}"), "no metadata.name"},
        {"b.json", "{\"kind\":\"NodeList\",\"items\":[null]}", "no metadata.name"},
        {"b.json", LIST(NODE("b") ",{\"kind\":\"Pod\",\"metadata\":{\"name\":5}}"), "items[1]"},
        {"b.json", "{\"kind\":\"List\",\"items\":{}}", "expected an array"},
        {"b.json", "{\"items\":[" NODE("b") "]}", "expected a Kubernetes object"},
        {"b.json", "{\"items\":[" NODE("b") "],\"kind\":\"Pod\"}", "expected the kind of a List"},
        {"b.yaml", "kind: Node\nmetadata: {name: b}\n---\nkind: [\n", "line"},
        {"b.yaml", NODE("b") "\n---\n" NODE("c") "x", "document 2"},
        {"b.yaml", NODE("b") NODE("c"), "a second value"},
        {"b.json", NODE("b") "\n---\n" NODE("c"), "a second value"},
        {"b.yaml", "kind: Node\nmetadata:\n  labels: *nobody\n", "line 3"},
        {"b.yml", "- a\n- b\n", "expected a Kubernetes object"},
    };
    put(f, "a.json", STR(LIST(NODE("a") "," POD("p", "a"))));
    for (uint32_t loads = 0; loads < 2; loads++) {
        check(f, loads, loads);
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
            put(f, bad[i].name, str_of(bad[i].text));
            load_badly(f, -EINVAL, bad[i].words);
            assert_contains(f->err.text, bad[i].name);
            assert_int_equal(cache_ready(f->c.cache), loads);
            assert_int_equal(remove(in_folder(f, bad[i].name)), 0);
        }
        load_well(f);
    }
}

/* Every kind, and more objects than are applied or taken back at once. */
static void nothing_is_left_of_a_first_load_that_fails(void **state) {
    struct fixture *f = *state;
    struct strbuf text = {0};
    strbuf_append_str(&text, STR("{\"kind\":\"List\",\"items\":["));
    for (int i = 0; i < 300; i++)
        strbuf_appendf(&text,
                       "{\"kind\":\"%s\",\"metadata\":{\"name\":\"o%d\",\"uid\":\"%d\"},\"spec\":"
                       "{\"nodeName\":\"o%d\",\"selector\":{\"a\":\"b\"}}},",
                       (const char *[]){"Node", "Pod", "Service", "Namespace"}[i % 4], i / 8, i,
                       i / 16);
    put(f, "a.json", strbuf_str(&text));
    load_badly(f, -EINVAL, "the text ends");
    assert_false(cache_ready(f->c.cache));
    text.n--;
    strbuf_append_str(&text, STR("]}"));
    put(f, "a.json", strbuf_str(&text));
    strbuf_done(&text);
    load_well(f);
    assert_int_equal(f->result.objects, 300);
    check(f, 38, 75);
}

static struct str repeated(struct fixture *f, const char *head, const char *part, size_t times) {
    struct strbuf text = {0};
    strbuf_append_str(&text, str_of(head));
    for (size_t i = 0; i < times; i++)
        strbuf_append_str(&text, str_of(part));
    struct str kept = arena_str(&f->c.arena, strbuf_str(&text));
    strbuf_done(&text);
    return kept;
}

static void depth_is_limited(void **state) {
    struct fixture *f = *state;
    put(f, "a.json", repeated(f, "{\"kind\":\"Node\",\"other\":", "[", 100000));
    load_badly(f, -EINVAL, "deeper than");
    put(f, "a.json", repeated(f, "", "{\"kind\":\"List\",\"items\":[", 30000));
    load_badly(f, -EINVAL, "deeper than");
    put(f, "a.json", repeated(f, "", "{\"kind\":\"List\",\"items\":[", 400));
    load_badly(f, -EINVAL, "lists");
    put(f, "a.json", repeated(f, "", "{\"items\":[", 30000));
    load_badly(f, -EINVAL, "deeper than");
    assert_int_equal(remove(in_folder(f, "a.json")), 0);
    put(f, "a.yaml", repeated(f, "kind: Node\nother: ", "[", 30000));
    assert_true(load(f) < 0);
}

static void unreadable_things_are_refused(void **state) {
    struct fixture *f = *state;
    put(f, "a.json", STR(NODE("a")));
    assert_int_equal(mkdir(in_folder(f, "b.json"), 0700), 0);
    load_badly(f, -EISDIR, "b.json");
    assert_int_equal(rmdir(in_folder(f, "b.json")), 0);
    assert_int_equal(symlink("nowhere", in_folder(f, "c.json")), 0);
    load_badly(f, -ENOENT, "c.json");
}

static void the_result_of_a_failure_is_untouched(void **state) {
    struct fixture *f = *state;
    f->result = (struct file_source_result){7, 8, 9};
    put(f, "a.json", STR("{"));
    load_badly(f, -EINVAL, "a.json");
    assert_int_equal(f->result.files, 7);
    assert_int_equal(f->result.objects, 8);
    assert_int_equal(f->result.duration_ms, 9);
}

/* ---- loading again ---- */

static void a_second_load_forgets_what_is_gone(void **state) {
    struct fixture *f = *state;
    struct selector all = cluster_selector(&f->c, "{}");
    assert_false(cache_ready(f->c.cache));
    put(f, "a.json", STR(LIST(NODE("a") "," NODE("b") "," POD("p", "a") "," POD("q", "b"))));
    load_well(f);
    assert_true(cache_ready(f->c.cache));
    assert_int_equal(probe_total(f->c.cache, "default", &all), 2);
    put(f, "a.json", STR(LIST(NODE("b") "," POD("q", "b"))));
    load_well(f);
    check(f, 1, 1);
    assert_int_equal(probe_total(f->c.cache, "default", &all), 1);
    assert_int_equal(probe_count(f->c.cache, "default", &all, "b"), 1);
}

static void changes_are_seen_once(void **state) {
    struct fixture *f = *state;
    assert_false(file_source_changed(f->source)); /* nothing there, nothing loaded */
    put(f, "a.json", STR(NODE("a")));
    assert_true(file_source_changed(f->source));
    load_well(f);
    assert_false(file_source_changed(f->source));
    put(f, "a.json", STR(NODE("b")));
    assert_true(file_source_changed(f->source));
    assert_true(file_source_changed(f->source)); /* until it is loaded */
    load_well(f);
    assert_false(file_source_changed(f->source));
    put(f, "b.json", STR(NODE("c")));
    assert_true(file_source_changed(f->source));
    load_well(f);
    put(f, "notes.txt", STR("no state"));
    assert_false(file_source_changed(f->source));
    assert_int_equal(remove(in_folder(f, "b.json")), 0);
    assert_true(file_source_changed(f->source));
    load_well(f);
    assert_false(file_source_changed(f->source));
}

struct follower {
    uint32_t begun, taken, ended, given_up;
    uint32_t nodes; /* taken by the reading that ended last */
    int refuses;    /* -errno at the end; 0: it does not */
};

static int begin(void *ctx, struct err *err) {
    struct follower *f = ctx;
    (void)err;
    f->begun++;
    f->taken = 0;
    return 0;
}

static int take(void *ctx, const struct file_object *object, struct err *err) {
    struct follower *f = ctx;
    (void)err;
    assert_true(str_eq(object->type.kind, STR("Node")));
    assert_int_equal(object->json.p[0], '{');
    assert_int_equal(object->json.p[object->json.n - 1], '}');
    f->taken++;
    return 0;
}

static int end(void *ctx, struct err *err) {
    struct follower *f = ctx;
    if (f->refuses != 0)
        return err_set(err, f->refuses, "not for me");
    f->ended++;
    f->nodes = f->taken;
    return 0;
}

static void give_up(void *ctx) {
    struct follower *f = ctx;
    f->given_up++;
}

/* It is told of every object of good files once, and a bad reading is given up. */
static void a_follower_has_a_say(void **state) {
    struct fixture *f = *state;
    struct follower told = {.refuses = -EINVAL}, second = {0};
    struct file_follower follower = {&told, begin, take, end, give_up, NULL},
                         other = {&second, begin, take, end, give_up, NULL};
    file_source_follow(f->source, &follower);
    file_source_follow(f->source, &other);
    put(f, "a.json", STR(NODE("a")));
    load_badly(f, -EINVAL, "not for me");
    assert_false(cache_ready(f->c.cache));
    assert_int_equal(cache_stats(f->c.cache).nodes, 0);
    assert_int_equal(told.given_up, 1);
    told.refuses = 0;
    load_well(f);
    assert_int_equal(told.ended, 1);
    assert_int_equal(told.nodes, 1);
    put(f, "b.json", STR("{"));
    load_badly(f, -EINVAL, "b.json");
    assert_int_equal(told.ended, 1);
    assert_int_equal(told.given_up, 2);
    put(f, "b.json", STR(" " NODE("b") " "));
    told.refuses = -ENOMEM;
    load_badly(f, -ENOMEM, "not for me");
    assert_int_equal(cache_stats(f->c.cache).nodes, 1);
    told.refuses = 0;
    load_well(f);
    assert_int_equal(told.nodes, 2);
    assert_int_equal(second.nodes, 2);
    assert_int_equal(second.ended, 2);
    assert_int_equal(cache_stats(f->c.cache).nodes, 2);
}

/* Files may be read for followers alone: each reading is one pass, bad ones are given up. */
static void followers_need_no_target(void **state) {
    const struct fixture *f = *state;
    const char *path = f->folder;
    struct follower told = {0};
    struct file_follower follower = {&told, begin, take, end, give_up, NULL};
    struct file_source *source;
    struct file_source_result result;
    struct err err;
    assert_int_equal(file_source_new(&path, 1, NULL, &source, NULL), 0);
    file_source_follow(source, &follower);
    put(f, "a.json", STR(LIST(NODE("a") "," NODE("b"))));
    assert_int_equal(file_source_load(source, &result, &err), 0);
    assert_int_equal(result.objects, 2);
    assert_int_equal(told.nodes, 2);
    put(f, "b.json", STR("{\"kind\":\"Node\",\"metadata\":{\"name\":\"c\"},\"spec\":[}"));
    assert_int_equal(file_source_load(source, &result, &err), -EINVAL);
    assert_contains(err.text, "b.json");
    assert_int_equal(told.given_up, 1);
    assert_int_equal(told.nodes, 2);
    put(f, "b.json", STR(NODE("c")));
    assert_int_equal(file_source_load(source, &result, &err), 0);
    assert_int_equal(told.nodes, 3);
    assert_int_equal(told.ended, 2);
    assert_false(file_source_changed(source));
    file_source_free(source);
}

/* ---- three followers ---- */

enum { FOLLOWERS = 3 };

/* Which of a load's calls refuses. */
enum call { CALL_NONE, CALL_BEGIN, CALL_TAKE, CALL_END };

struct one_of_three {
    enum call refuses;
    uint32_t taken, ended, given_up;
};

static int answer(const struct one_of_three *f, enum call call, struct err *err) {
    static const char *const reasons[] = {"nothing", "not begun", "not taken", "not ended"};
    return f->refuses == call ? err_set(err, -EINVAL, "%s", reasons[call]) : 0;
}

static int begin_one(void *ctx, struct err *err) {
    struct one_of_three *f = ctx;
    f->taken = 0;
    return answer(f, CALL_BEGIN, err);
}

static int take_one(void *ctx, const struct file_object *object, struct err *err) {
    struct one_of_three *f = ctx;
    struct json_reader r = file_object_reader(object);
    const struct str kind = json_peek_member(&r, STR("kind"));
    assert_true(str_eq(kind, object->type.kind));
    f->taken++;
    return str_eq(kind, STR("Node")) ? answer(f, CALL_TAKE, err) : 0;
}

static int end_one(void *ctx, struct err *err) {
    struct one_of_three *f = ctx;
    const int r = answer(f, CALL_END, err);
    f->ended += r == 0;
    return r;
}

static void give_one_up(void *ctx) {
    struct one_of_three *f = ctx;
    f->given_up++;
}

static struct one_of_three three[FOLLOWERS];
static struct file_follower three_followers[FOLLOWERS];

static void follow_thrice(struct file_source *source) {
    memset(three, 0, sizeof three);
    for (int i = 0; i < FOLLOWERS; i++) {
        three_followers[i] =
            (struct file_follower){&three[i], begin_one, take_one, end_one, give_one_up, NULL};
        file_source_follow(source, &three_followers[i]);
    }
}

/* Whoever refuses, and at whichever call, before anything is served and after. */
static void each_follower_can_refuse(void **state) {
    static const char *const reasons[] = {"nothing", "not begun", "not taken", "not ended"};
    static const uint32_t taken[] = {3, 0, 2, 3};
    struct fixture *f = *state;
    follow_thrice(f->source);
    put(f, "a.json", STR(LIST(POD("p", "a") "," NODE("a") "," POD("q", "a"))));
    for (uint32_t loads = 0; loads < 2; loads++) {
        for (int who = 0; who < FOLLOWERS; who++)
            for (enum call call = CALL_BEGIN; call <= CALL_END; call++) {
                const uint32_t given_up = three[0].given_up;
                three[who].refuses = call;
                load_badly(f, -EINVAL, reasons[call]);
                for (int i = 0; i < FOLLOWERS; i++)
                    assert_int_equal(three[i].given_up, given_up + 1);
                assert_int_equal(three[FOLLOWERS - 1].ended, loads);
                /* nothing comes behind what is refused */
                assert_int_equal(three[who].taken, taken[call]);
                if (call == CALL_TAKE && who < FOLLOWERS - 1)
                    assert_int_equal(three[who + 1].taken, 1);
                three[who].refuses = CALL_NONE;
            }
        load_well(f);
        for (int i = 0; i < FOLLOWERS; i++) {
            assert_int_equal(three[i].taken, 3);
            three[i].ended = loads + 1;
        }
    }
}

/* ---- a target by hand ---- */

/* What was asked of it, as a text: begin, each object of each pass, the passes' ends, the end. */
struct by_hand {
    bool serves;
    struct strbuf calls;
    enum file_pass fails_in;
    char fails_at; /* the name of an object; 0: nowhere */
};

static bool by_hand_serves(void *ctx) {
    const struct by_hand *t = ctx;
    return t->serves;
}

static void by_hand_begin(void *ctx) {
    struct by_hand *t = ctx;
    strbuf_append_str(&t->calls, STR("begin "));
}

static int by_hand_read(void *ctx, enum file_pass pass, enum object_kind kind,
                        struct json_reader *r, struct err *err) {
    struct by_hand *t = ctx;
    const struct str json = json_skip(r); /* {"kind":"Node","metadata":{"name":"a"}} */
    const char name = json.p[json.n - 4];
    assert_int_equal(kind, OBJECT_NODE);
    strbuf_appendf(&t->calls, "%s-%c ", (const char *[]){"check", "apply", "undo"}[pass], name);
    return pass == t->fails_in && name == t->fails_at ? err_set(err, -ENOMEM, "no memory") : 0;
}

static void by_hand_pass_done(void *ctx) {
    struct by_hand *t = ctx;
    strbuf_append_str(&t->calls, STR("done "));
}

static void by_hand_end(void *ctx) {
    struct by_hand *t = ctx;
    t->serves = true;
    strbuf_append_str(&t->calls, STR("end "));
}

/* One load, and what it asked of the target. */
static int load_by_hand(struct file_source *source, struct by_hand *t, const char *calls,
                        struct err *err) {
    struct file_source_result result;
    strbuf_clear(&t->calls);
    const int r = file_source_load(source, &result, err);
    strbuf_append_char(&t->calls, '\0');
    assert_string_equal(t->calls.p, calls);
    return r;
}

static void a_target_is_asked_in_order(void **state) {
    const struct fixture *f = *state;
    const char *path = f->folder;
    struct by_hand t = {.serves = false};
    const struct file_target target = {&t,           by_hand_serves,    by_hand_begin,
                                       by_hand_read, by_hand_pass_done, by_hand_end};
    struct file_source *source;
    struct err err;
    assert_int_equal(file_source_new(&path, 1, &target, &source, NULL), 0);
    follow_thrice(source);
    put(f, "a.json", STR(NODE("a")));
    put(f, "b.json", STR(NODE("b")));
    put(f, "c.json", STR(NODE("c")));
    /* nobody is served: applied at once, and taken back */
    t.fails_in = FILE_APPLY, t.fails_at = 'b';
    assert_int_equal(
        load_by_hand(source, &t, "begin apply-a apply-b done undo-a undo-b undo-c done ", &err),
        -ENOMEM);
    assert_false(file_source_changed(source)); /* it is the file's fault, as far as is known */
    t.fails_at = 0;
    assert_int_equal(load_by_hand(source, &t, "begin apply-a apply-b apply-c done end ", &err), 0);
    assert_int_equal(three[1].taken, 3);
    /* somebody is served: nothing is applied that was not looked at */
    t.fails_in = FILE_CHECK, t.fails_at = 'b';
    assert_int_equal(load_by_hand(source, &t, "check-a check-b done ", &err), -ENOMEM);
    assert_int_equal(three[2].ended, 1);
    assert_false(file_source_changed(source));
    t.fails_at = 0;
    assert_int_equal(load_by_hand(source, &t,
                                  "check-a check-b check-c done begin "
                                  "apply-a apply-b apply-c done end ",
                                  &err),
                     0);
    assert_int_equal(three[1].taken, 3); /* in one of the passes */
    assert_int_equal(three[2].ended, 2);
    strbuf_done(&t.calls);
    file_source_free(source);
}

/* Good files that were applied in part are applied again, though they do not change. */
static void applied_in_part_is_applied_again(void **state) {
    const struct fixture *f = *state;
    const char *path = f->folder;
    struct by_hand t = {.serves = true, .fails_in = FILE_APPLY, .fails_at = 'b'};
    const struct file_target target = {&t,           by_hand_serves,    by_hand_begin,
                                       by_hand_read, by_hand_pass_done, by_hand_end};
    static const char partly[] = "check-a check-b check-c done begin apply-a apply-b done ";
    struct file_source *source;
    struct err err;
    assert_int_equal(file_source_new(&path, 1, &target, &source, NULL), 0);
    put(f, "a.json", STR(NODE("a")));
    put(f, "b.json", STR(NODE("b")));
    put(f, "c.json", STR(NODE("c")));
    for (int loads = 0; loads < 2; loads++) {
        assert_int_equal(load_by_hand(source, &t, partly, &err), -ENOMEM);
        assert_contains(err.text, "applied in part: ");
        assert_true(file_source_changed(source));
    }
    t.fails_at = 0;
    assert_int_equal(load_by_hand(source, &t,
                                  "check-a check-b check-c done begin "
                                  "apply-a apply-b apply-c done end ",
                                  &err),
                     0);
    assert_false(file_source_changed(source));
    strbuf_done(&t.calls);
    file_source_free(source);
}

/* ---- while it reads ---- */

static struct fixture *rewritten; /* its a.json is written anew by the first object's take */
static int take_and_rewrite(void *ctx, const struct file_object *object, struct err *err) {
    if (rewritten != NULL)
        put(rewritten, "a.json", STR(NODE("other")));
    rewritten = NULL;
    return take(ctx, object, err);
}

static void a_change_while_files_are_read_is_seen_next_time(void **state) {
    struct fixture *f = *state;
    struct follower told = {0};
    struct file_follower follower = {&told, begin, take_and_rewrite, end, give_up, NULL};
    file_source_follow(f->source, &follower);
    put(f, "a.json", STR(LIST(NODE("a") "," NODE("b"))));
    rewritten = f;
    load_well(f);
    assert_int_equal(told.nodes, 2);
    assert_true(file_source_changed(f->source));
    load_well(f);
    assert_int_equal(told.nodes, 1);
    assert_false(file_source_changed(f->source));
}

/* Each takes 8 KiB of the arena, which is far too small for all of them. */
static int take_with_arena(void *ctx, const struct file_object *object, struct err *err) {
    enum { BYTES = 8 << 10 };
    if (arena_alloc(object->arena, BYTES) == NULL)
        return err_set(err, -ENOMEM, "no memory left");
    return take(ctx, object, err);
}

static void every_document_has_its_own_memory(void **state) {
    enum { DOCUMENTS = 10000 };
    const struct fixture *f = *state;
    const char *path = f->folder;
    struct follower told = {0};
    struct file_follower follower = {&told, begin, take_with_arena, end, give_up, NULL};
    struct file_source_result result;
    struct file_source *source;
    struct strbuf text = {0};
    struct err err;
    for (int i = 0; i < DOCUMENTS; i++)
        strbuf_appendf(&text, "---\nkind: Node\nmetadata: {name: n%d}\n", i);
    put(f, "a.yaml", strbuf_str(&text));
    strbuf_done(&text);
    assert_int_equal(file_source_new(&path, 1, NULL, &source, NULL), 0);
    file_source_follow(source, &follower);
    if (file_source_load(source, &result, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(told.nodes, DOCUMENTS);
    file_source_free(source);
}

/* A reading that failed is not tried again until something changes. */
static void a_failure_is_seen_once_too(void **state) {
    struct fixture *f = *state;
    put(f, "a.json", STR(NODE("a")));
    load_well(f);
    put(f, "a.json", STR("{"));
    assert_true(file_source_changed(f->source));
    load_badly(f, -EINVAL, "a.json");
    assert_false(file_source_changed(f->source));
    put(f, "a.json", STR(NODE("a")));
    assert_true(file_source_changed(f->source));
    load_well(f);
    assert_int_equal(remove(in_folder(f, "a.json")), 0);
    assert_true(file_source_changed(f->source));
    load_badly(f, -ENOENT, "no .json");
    assert_false(file_source_changed(f->source));
    put(f, "a.json", STR(NODE("a")));
    assert_true(file_source_changed(f->source));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_form_of_document_is_read),
        TEST(many_objects),
        TEST(a_folder_gives_its_state_files_in_name_order),
        TEST(files_and_folders_may_be_named_together),
        TEST(what_is_missing_is_named),
        TEST(a_bad_file_is_refused_whole),
        TEST(nothing_is_left_of_a_first_load_that_fails),
        TEST(depth_is_limited),
        TEST(unreadable_things_are_refused),
        TEST(the_result_of_a_failure_is_untouched),
        TEST(a_second_load_forgets_what_is_gone),
        TEST(changes_are_seen_once),
        TEST(a_follower_has_a_say),
        TEST(followers_need_no_target),
        TEST(each_follower_can_refuse),
        TEST(a_target_is_asked_in_order),
        TEST(applied_in_part_is_applied_again),
        TEST(a_change_while_files_are_read_is_seen_next_time),
        TEST(every_document_has_its_own_memory),
        TEST(a_failure_is_seen_once_too),
    };
    return cmocka_run_group_tests_name("file source", tests, NULL, NULL);
}

#include "unit/findings/drawn_findings.h"

#include "clusters/question.h"
#include "clusters/state.h"
#include "findings/placement.h"
#include "findings/state/fleet.h"
#include "model/names.h"
#include "unit/findings/drawn_files.h"
#include "unit/whatif/files.h"
#include "whatif/binding_simulation.h"
#include "whatif/policy_check.h"

#include <string.h>

/* The time of the question; scores end before or after it. */
enum { NOW_S = 1767312000 }; /* 2026-01-02 */

/* The files of one question. */
struct written {
    struct file_with file, state, other;
    const char *paths[1];
    struct configuration c;
};

static struct file_with write_json(const cJSON *value) {
    struct file_with file = {"/tmp/evenkeel-test-XXXXXX.json"};
    char *text = cJSON_PrintUnformatted(value);
    const int fd = mkostemps(file.path, 5, O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(close(fd), 0);
    cJSON_free(text);
    return file;
}

static void written_init(struct written *w, const struct drawn *d) {
    *w = (struct written){.file = write_json(d->file)};
    configuration_init(&w->c);
    if (d->state == NULL)
        return;
    w->state = write_json(d->state);
    w->paths[0] = w->state.path;
    w->c.state.paths = w->paths;
    w->c.state.path_count = 1;
}

static void written_done(struct written *w) {
    const char *const paths[] = {w->file.path, w->state.path, w->other.path};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (paths[i][0] != '\0')
            (void)unlink(paths[i]);
    w->c.state.paths = NULL;
    w->c.state.path_count = 0;
    configuration_done(&w->c);
}

/* ---- pods ---- */

/* As `evenkeel simulate --kube-scheduler-config` does. */
static int find_with_scheduler(const struct drawn *d, struct written *w,
                               const struct document *file, struct arena *arena, struct findings *f,
                               struct err *err) {
    struct simulation_state state;
    struct simulation_question q = {.configuration = &w->c,
                                    .state = &state,
                                    .pod = file,
                                    .scheduler_path = w->other.path,
                                    .filters = FILTERS_ALL,
                                    .findings = f};
    struct simulation result;
    char text[200];
    (void)snprintf(text, sizeof text,
                   "{'apiVersion':'%s','kind':'KubeSchedulerConfiguration','profiles':"
                   "[{'schedulerName':'default-scheduler'}]}",
                   d->scheduler);
    w->other = file_with(text);
    int r = simulation_read(&w->c, NULL, &state, err);
    if (r == 0)
        r = simulation_run(&q, arena, &result, err);
    simulation_state_done(&state);
    return r;
}

static int find_in_workload(const struct drawn *d, struct written *w, struct arena *arena,
                            struct findings *f, struct err *err) {
    struct document file;
    const int r = document_read_only(w->file.path, &pod_documents, arena, &file, err);
    if (r != 0)
        return r;
    return d->scheduler != NULL ? find_with_scheduler(d, w, &file, arena, f, err)
                                : simulation_find(&w->c, &file, arena, f, err);
}

/* ---- clusters ---- */

/* As `evenkeel simulate --placement` does. */
static int find_in_placement(const struct drawn *d, struct written *w, struct arena *arena,
                             struct findings *f, struct err *err) {
    struct clusters_state state;
    struct placement placement;
    struct document file;
    (void)d;
    int r = clusters_state_load(w->paths, 1, NULL, 0, &state, err);
    if (r == 0)
        r = document_read_only(w->file.path, &placement_documents, arena, &file, err);
    if (r == 0)
        r = clusters_placement_read(&file, arena, &placement, err);
    if (r == 0)
        r = findings_of_placement(file.text, &placement, f);
    if (r == 0)
        r = findings_of_fleet(state.fleet, &placement, (int64_t)NOW_S * 1000, f);
    clusters_state_done(&state);
    return r;
}

static struct str text_of(const cJSON *item, const char *name, struct arena *arena) {
    return arena_str(arena, str_of(cJSON_GetStringValue(cJSON_GetObjectItem(item, name))));
}

/* Findings of an answer, by their code. */
static void read_findings(const cJSON *answer, struct arena *arena, struct findings *f) {
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(answer, "findings")) {
        const char *code = cJSON_GetStringValue(cJSON_GetObjectItem(item, "code"));
        int i = 0;
        while (i < FINDING_CODES && strcmp(finding_kinds[i].code, code) != 0)
            i++;
        assert_true(i < FINDING_CODES);
        findings_add(f, (enum finding_code)i, text_of(item, "path", arena),
                     text_of(item, "remedy", arena), "%.*s",
                     STR_ARG(text_of(item, "message", arena)));
    }
}

static int find_in_binding(const struct drawn *d, struct written *w, struct arena *arena,
                           struct findings *f, struct err *err) {
    const char *const paths[] = {w->file.path};
    struct binding_simulation how = {.now_ms = (int64_t)NOW_S * 1000};
    CLEANUP(strbuf_done) struct strbuf json = {0};
    uint32_t count;
    if (d->subject == SUBJECT_PROPAGATION) {
        w->other = file_with("{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'web',"
                             "'namespace':'default'},'spec':{'replicas':4,'template':{'spec':"
                             "{'containers':[{'name':'c'}]}}}}");
        how.sources = (struct binding_sources){.policy = w->file.path, .workload = w->other.path};
    } else
        how.sources = (struct binding_sources){.paths = paths, .path_count = 1};
    const int r = binding_simulation_run(&w->c, &how, arena, &json, &count, err);
    if (r == 0) {
        cJSON *answer = cJSON_ParseWithLength(json.p, json.n);
        read_findings(answer, arena, f);
        cJSON_Delete(answer);
    }
    return r;
}

static int find_in_policy(const struct drawn *d, struct written *w, struct arena *arena,
                          struct findings *f, struct err *err) {
    const char *const paths[] = {w->file.path};
    struct policy_check check = {.findings = f};
    (void)d;
    return policy_check_run(&w->c, paths, 1, arena, &check, err);
}

void drawn_findings(const struct drawn *d, struct arena *arena, struct findings *f) {
    static int (*const find[SUBJECTS])(const struct drawn *d, struct written *w,
                                       struct arena *arena, struct findings *f, struct err *err) = {
        [SUBJECT_WORKLOAD] = find_in_workload, [SUBJECT_PLACEMENT] = find_in_placement,
        [SUBJECT_BINDING] = find_in_binding,   [SUBJECT_PROPAGATION] = find_in_binding,
        [SUBJECT_POLICY] = find_in_policy,
    };
    struct written w;
    struct err err = {0};
    written_init(&w, d);
    const int r = find[d->subject](d, &w, arena, f, &err);
    written_done(&w);
    if (r != 0)
        fail_msg("a file is refused: %s", err.text);
}

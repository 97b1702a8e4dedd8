#include "whatif/pod_file.h"

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "findings/kinds.h"
#include "model/names.h"

#include <errno.h>

/* Texts of a workload's members; "" if a member is missing. Strings are without quotes. */
struct workload_texts {
    struct str version, kind, name, namespace, uid;
    struct str selector, replicas, completions;
    struct str labels, annotations, spec; /* members of the pod template */
    struct str claims;                    /* volumeClaimTemplates */
    bool is_cron;                         /* the pod template is in a Job template */
};

/* Returns the text of a member of an object; "" if it is missing or null. */
static struct str member(struct str object, const char *name, struct arena *arena) {
    struct json_reader r;
    struct str key, found = STR("");
    if (object.n == 0)
        return found;
    json_reader_init(&r, object, arena, POD_KIND);
    if (json_peek(&r) == JSON_OBJECT && json_object(&r))
        while (json_member(&r, &key)) {
            bool is_it = str_eq(key, str_of(name));
            struct str value = json_skip(&r);
            if (is_it && !str_eq(value, STR("null")))
                found = value;
        }
    return json_failed(&r) ? STR("") : found;
}

static struct str text(struct str object, const char *name, struct arena *arena) {
    struct json_reader r;
    if (object.n == 0)
        return object;
    json_reader_init(&r, object, arena, POD_KIND);
    return json_peek_member(&r, str_of(name));
}

static void read_texts(struct str json, struct arena *arena, struct workload_texts *ret) {
    struct str meta = member(json, "metadata", arena), spec = member(json, "spec", arena);
    struct str job = member(member(spec, "jobTemplate", arena), "spec", arena);
    struct str from = job.n > 0 ? job : spec; /* a CronJob has a Job's spec inside its own */
    struct str template = member(from, "template", arena);
    struct str template_meta = member(template, "metadata", arena);
    *ret = (struct workload_texts){
        .version = text(json, "apiVersion", arena),
        .kind = text(json, "kind", arena),
        .name = text(meta, "name", arena),
        .namespace = text(meta, "namespace", arena),
        .uid = text(meta, "uid", arena),
        .selector = member(from, "selector", arena),
        .replicas = member(from, "replicas", arena),
        .completions = member(from, "completions", arena),
        .labels = member(template_meta, "labels", arena),
        .annotations = member(template_meta, "annotations", arena),
        .spec = member(template, "spec", arena),
        .claims = member(from, "volumeClaimTemplates", arena),
        .is_cron = job.n > 0,
    };
    if (ret->replicas.n == 0)
        ret->replicas = member(from, "parallelism", arena); /* a Job's replicas */
}

/* ---- the pod that the workload's controller would create ---- */

static const char hash_key[] = TEMPLATE_HASH_LABEL;
static const char made_up[] = "simulated";
/* The name of a CronJob's Job ends with the minute at which it was due, which shows that the Job
 * has a CronJob (model/workload.h). This is a minute of 2025. */
static const char made_up_minute[] = "29000000";

static bool is_deployment(const struct workload_texts *t) {
    return str_eq(t->kind, STR(DEPLOYMENT_KIND));
}

static struct str with_suffix(struct str name, const char *suffix, struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf out = {0};
    strbuf_appendf(&out, "%.*s%s%s", STR_ARG(name), name.n > 0 ? "-" : "", suffix);
    return arena_str(arena, strbuf_str(&out));
}

static void put_raw(struct json_writer *w, const char *key, struct str json) {
    if (json.n == 0)
        return;
    json_key(w, str_of(key));
    json_put_raw(w, json);
}

/* A pod's controller, and the labels that it adds to the template's. */
struct controller {
    struct str kind, name, uid;
    struct copied_label {
        const char *key;
        struct str value;
    } labels[4];
};

/* Makes the pod's controller, with the labels that Kubernetes 1.36 adds. upstream:
 * pkg/controller/deployment/sync.go, pkg/controller/statefulset/stateful_set_utils.go,
 * pkg/registry/batch/job/strategy.go. */
static struct controller simulated_controller(const struct workload_texts *t, struct str pod_name,
                                              struct arena *arena) {
    const struct str uid = t->uid.n > 0 ? t->uid : t->name;
    if (is_deployment(t))
        return (struct controller){STR(REPLICA_SET_KIND), pod_name, pod_name,
                                   .labels = {{hash_key, str_of(made_up)}}};
    if (str_eq(t->kind, STR(STATEFUL_SET_KIND)))
        return (struct controller){t->kind, t->name, t->uid,
                                   .labels = {{POD_INDEX_LABEL, STR("0")},
                                              {REVISION_HASH_LABEL, str_of(made_up)},
                                              {STATEFUL_POD_NAME_LABEL, pod_name}}};
    const bool is_cron = str_eq(t->kind, STR(CRON_JOB_KIND)),
               is_job = str_eq(t->kind, STR(JOB_KIND));
    if (!is_cron && !is_job)
        return (struct controller){t->kind, t->name, t->uid, .labels = {{0}}};
    const struct str job = is_cron ? with_suffix(t->name, made_up_minute, arena) : t->name;
    const struct str job_uid = is_cron ? job : uid;
    return (struct controller){STR(JOB_KIND), job, job_uid,
                               .labels = {{JOB_UID_LABEL, job_uid},
                                          {JOB_NAME_LABEL, job},
                                          {JOB_UID_LABEL_OLD, job_uid},
                                          {JOB_NAME_LABEL_OLD, job}}};
}

/* Writes an object's members, and the controller's labels that the object does not have yet; a Job
 * that was read from an API server has them already. */
static void put_with_labels(struct json_writer *w, const char *name, struct str object,
                            const struct controller *c, struct arena *arena) {
    const size_t most = sizeof c->labels / sizeof c->labels[0];
    struct str inside = object.n >= 2 ? str_trim((struct str){object.p + 1, object.n - 2}) : object;
    json_key(w, str_of(name));
    json_begin_object(w);
    if (inside.n > 0)
        json_put_raw(w, inside);
    for (size_t i = 0; i < most && c->labels[i].key != NULL; i++)
        if (member(object, c->labels[i].key, arena).n == 0)
            json_put_member(w, str_of(c->labels[i].key), c->labels[i].value);
    json_end_object(w);
}

static void put_owner_reference(struct json_writer *w, const struct workload_texts *t,
                                const struct controller *c) {
    json_key(w, STR("ownerReferences"));
    json_begin_array(w);
    json_begin_object(w);
    json_put_member(w, STR("apiVersion"), t->version);
    json_put_member(w, STR("kind"), c->kind);
    json_put_member(w, STR("name"), c->name);
    json_put_member(w, STR("uid"), c->uid);
    json_key(w, STR("controller"));
    json_put_bool(w, true);
    json_end_object(w);
    json_end_array(w);
}

static void put_meta(struct json_writer *w, const struct workload_texts *t, struct str name) {
    json_put_member(w, STR("name"), name);
    if (t->namespace.n > 0)
        json_put_member(w, STR("namespace"), t->namespace);
}

static struct str print_pod(const struct workload_texts *t, struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf out = {0};
    struct json_writer w = {.out = &out};
    struct str name = with_suffix(t->name, made_up, arena);
    const struct controller c = simulated_controller(t, name, arena);
    json_begin_object(&w);
    json_put_member(&w, STR("apiVersion"), STR("v1"));
    json_put_member(&w, STR("kind"), STR(POD_KIND));
    json_key(&w, STR("metadata"));
    json_begin_object(&w);
    put_meta(&w, t, name);
    if (c.labels[0].key != NULL)
        put_with_labels(&w, "labels", t->labels, &c, arena);
    else
        put_raw(&w, "labels", t->labels);
    put_raw(&w, "annotations", t->annotations);
    put_owner_reference(&w, t, &c);
    json_end_object(&w);
    put_raw(&w, "spec", t->spec);
    json_end_object(&w);
    return strbuf_failed(&out) ? STR("") : arena_str(arena, strbuf_str(&out));
}

/* Prints a Deployment's ReplicaSet, with the selector that the Deployment controller gives it. */
static struct str print_replica_set(const struct workload_texts *t, struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf out = {0};
    struct json_writer w = {.out = &out};
    struct str expressions = member(t->selector, "matchExpressions", arena);
    struct str name = with_suffix(t->name, made_up, arena);
    const struct controller c = simulated_controller(t, name, arena);
    json_begin_object(&w);
    json_put_member(&w, STR("apiVersion"), STR(APPS_API));
    json_put_member(&w, STR("kind"), STR(REPLICA_SET_KIND));
    json_key(&w, STR("metadata"));
    json_begin_object(&w);
    put_meta(&w, t, name);
    json_end_object(&w);
    json_key(&w, STR("spec"));
    json_begin_object(&w);
    json_key(&w, STR("selector"));
    json_begin_object(&w);
    put_with_labels(&w, "matchLabels", member(t->selector, "matchLabels", arena), &c, arena);
    put_raw(&w, "matchExpressions", expressions);
    json_end_object(&w);
    json_end_object(&w);
    json_end_object(&w);
    return strbuf_failed(&out) ? STR("") : arena_str(arena, strbuf_str(&out));
}

/* Reads the replicas. A Job runs at most as many pods at once as it has completions. */
static int read_replicas(const struct workload_texts *t, int64_t *ret, struct err *err) {
    int64_t completions;
    *ret = 1;
    bool good = t->replicas.n == 0 || (str_to_i64(t->replicas, ret) && *ret >= 0);
    if (!good)
        return err_set(err, -EINVAL, "spec.replicas (of a Job parallelism) is not a number from 0");
    good = t->completions.n == 0 || (str_to_i64(t->completions, &completions) && completions >= 0);
    if (!good)
        return err_set(err, -EINVAL, "spec.completions is not a number from 0");
    if (t->completions.n > 0 && completions < *ret)
        *ret = completions;
    return 0;
}

bool pod_file_has_pod(struct str json, struct arena *arena) {
    struct workload_texts t;
    read_texts(json, arena, &t);
    return str_eq(t.kind, STR(POD_KIND)) || t.spec.n > 0 ||
           pod_kind_near(t.version, t.kind, &arena->steps) != NULL;
}

/* Returns a hint if a comment of a JSON file, which was read as YAML then, is part of a key. */
static const char *comment_hint(struct str json) {
    const bool has =
        memmem(json.p, json.n, "\"//", 3) != NULL || memmem(json.p, json.n, "\"/*", 3) != NULL;
    return has ? "; JSON has no comments: leave out '//' and '/*'" : "";
}

static int refuse_kind(const struct workload_texts *t, struct arena *arena, struct err *err) {
    const char *near = pod_kind_near(t->version, t->kind, &arena->steps);
    return err_set(err, -EINVAL,
                   "kind is '%.*s'; expected one Pod, or a workload with spec.template%s%s%s",
                   STR_ARG(t->kind), near != NULL ? "; did you mean '" : "",
                   near != NULL ? near : "", near != NULL ? "'?" : "");
}

int pod_file_read(struct str json, struct arena *arena, struct pod_file *ret, struct err *err) {
    struct workload_texts t;
    *ret = (struct pod_file){.json = json, .spec = "spec", .pod = json};
    read_texts(json, arena, &t);
    if (str_eq(t.kind, STR(POD_KIND)))
        return 0;
    if (t.kind.n == 0)
        return err_set(err, -EINVAL,
                       "it has no kind; expected one Pod, or a workload with spec.template%s",
                       comment_hint(json));
    if (t.spec.n == 0)
        return refuse_kind(&t, arena, err);
    ret->is_workload = true;
    ret->spec = t.is_cron ? "spec.jobTemplate.spec.template.spec" : "spec.template.spec";
    const bool is_daemon_set = str_eq(t.kind, STR(DAEMON_SET_KIND));
    if (is_daemon_set)
        ret->daemon_set =
            (struct workload_key){t.kind, t.namespace.n > 0 ? t.namespace : STR("default"), t.name};
    ret->makes_claims = t.claims.n > 0 && !str_eq(t.claims, STR("[]"));
    ret->host_network = str_eq(member(t.spec, "hostNetwork", arena), STR("true"));
    int r = is_daemon_set ? 0 : read_replicas(&t, &ret->replicas, err);
    if (r != 0)
        return r;
    ret->pod = print_pod(&t, arena);
    if (is_deployment(&t))
        ret->owner = print_replica_set(&t, arena);
    else if (str_eq(t.kind, STR(REPLICA_SET_KIND)) || str_eq(t.kind, STR(STATEFUL_SET_KIND)) ||
             str_eq(t.kind, STR(REPLICATION_CONTROLLER_KIND)))
        ret->owner = json;
    return ret->pod.n == 0 || arena_failed(arena)
               ? err_set(err, -ENOMEM, "no memory for the workload's pod")
               : 0;
}

#include "model/workload.h"

#include "base/suggest.h"

#include "base/time.h"
#include "model/names.h"

/* The first minute is in August 2015, before CronJobs existed; the last is tomorrow, because clocks
 * differ. */
enum { MINUTE_DIGITS = 8, FIRST_MINUTE = 24000000, DAY = 24 * 60 };

static int64_t last_minute(void) {
    return kube_wall_us() / (INT64_C(60) * 1000000) + DAY;
}

/* Does the name end with "-" and `end`? If it does, removes both from *name. */
static bool cut(struct str *name, struct str end) {
    if (end.n == 0 || name->n < end.n + 2 || !str_has_suffix(*name, end) ||
        name->p[name->n - end.n - 1] != '-')
        return false;
    name->n -= end.n + 1;
    return true;
}

static bool ends_with_minutes(struct str name, struct str *ret) {
    int64_t minutes = 0;
    if (name.n < MINUTE_DIGITS)
        return false;
    *ret = (struct str){name.p + name.n - MINUTE_DIGITS, MINUTE_DIGITS};
    for (size_t i = 0; i < ret->n; i++)
        if (ret->p[i] < '0' || ret->p[i] > '9')
            return false;
    return str_to_i64(*ret, &minutes) && minutes >= FIRST_MINUTE && minutes <= last_minute();
}

static bool is_type(struct object_type type, struct str group, struct str kind) {
    return str_eq(type.kind, kind) && str_eq(type.group, group);
}

/* Returns the object's controller; without a controller, the object itself, with type `own`. */
static struct workload_name controller_or(const struct object_meta *object,
                                          struct object_type own) {
    if (str_empty(object->controller_kind))
        return (struct workload_name){own, object->name};
    return (struct workload_name){{api_group(object->controller_api), object->controller_kind},
                                  object->controller_name};
}

bool is_controlled_by(const struct object_meta *pod, const struct workload_key *workload) {
    return str_eq(pod->controller_name, workload->name) &&
           str_eq(pod->controller_kind, workload->kind) &&
           str_eq(pod->namespace, workload->namespace);
}

struct workload_name controller_of(const struct object_meta *pod) {
    return controller_or(pod, (struct object_type){STR(""), STR(POD_KIND)});
}

struct workload_name placement_controller_of(const struct object_meta *placement) {
    return controller_or(placement, (struct object_type){STR(OCM_GROUP), STR(PLACEMENT_KIND)});
}

struct workload_name workload_of(struct workload_name controller, label_lookup_fn *lookup,
                                 const void *labels) {
    struct workload_name ret = controller;
    struct str end;
    if (is_type(controller.type, STR(APPS_GROUP), STR(REPLICA_SET_KIND))) {
        if (lookup(labels, STR(TEMPLATE_HASH_LABEL), &end) && cut(&ret.name, end))
            ret.type = (struct object_type){STR(APPS_GROUP), STR(DEPLOYMENT_KIND)};
        else if (lookup(labels, STR(ROLLOUT_HASH_LABEL), &end) && cut(&ret.name, end))
            ret.type = (struct object_type){STR(ROLLOUT_GROUP), STR(ROLLOUT_KIND)};
    } else if (is_type(controller.type, STR(BATCH_GROUP), STR(JOB_KIND))) {
        if (ends_with_minutes(controller.name, &end) && cut(&ret.name, end))
            ret.type = (struct object_type){STR(BATCH_GROUP), STR(CRON_JOB_KIND)};
    }
    return ret;
}

bool is_daemon_set(struct object_type controller) {
    return is_type(controller, STR(APPS_GROUP), STR(DAEMON_SET_KIND));
}

bool is_node(struct object_type controller) {
    return is_type(controller, STR(""), STR(NODE_KIND));
}

bool controller_chooses_node(struct object_type controller) {
    return is_daemon_set(controller) || is_node(controller);
}

static const struct {
    const char *kind, *group;
} built_in[] = {{DEPLOYMENT_KIND, APPS_GROUP},    {STATEFUL_SET_KIND, APPS_GROUP},
                {REPLICA_SET_KIND, APPS_GROUP},   {DAEMON_SET_KIND, APPS_GROUP},
                {JOB_KIND, BATCH_GROUP},          {CRON_JOB_KIND, BATCH_GROUP},
                {REPLICATION_CONTROLLER_KIND, ""}};
enum { BUILT_IN = sizeof built_in / sizeof built_in[0] };

bool built_in_workload(struct str kind, struct str *ret_group) {
    for (size_t i = 0; i < BUILT_IN; i++)
        if (str_eq(kind, str_of(built_in[i].kind))) {
            *ret_group = str_of(built_in[i].group);
            return true;
        }
    return false;
}

struct object_type built_in_workload_near(struct str kind) {
    struct suggestion near = suggestion_for(kind);
    for (size_t i = 0; i < BUILT_IN; i++)
        suggestion_offer(&near, built_in[i].kind);
    for (size_t i = 0; i < BUILT_IN; i++)
        if (near.best == built_in[i].kind)
            return (struct object_type){str_of(built_in[i].group), str_of(built_in[i].kind)};
    return (struct object_type){.kind = STR("")};
}

/* ---- users who create pods ---- */

#define TEXT(literal)                                                                              \
    { literal, sizeof(literal) - 1 }

/* Service accounts in kube-system, each with the kind of the owner of the pods that it creates. */
static const struct {
    struct str account;
    struct object_type owner;
} pod_controllers[] = {
    {TEXT("daemon-set-controller"), {TEXT(APPS_GROUP), TEXT(DAEMON_SET_KIND)}},
    {TEXT("job-controller"), {TEXT(BATCH_GROUP), TEXT(JOB_KIND)}},
    {TEXT("replicaset-controller"), {TEXT(APPS_GROUP), TEXT(REPLICA_SET_KIND)}},
    {TEXT("replication-controller"), {TEXT(""), TEXT(REPLICATION_CONTROLLER_KIND)}},
    {TEXT("statefulset-controller"), {TEXT(APPS_GROUP), TEXT(STATEFUL_SET_KIND)}},
};

static bool is_account(struct str user, struct str account) {
    static const struct str accounts = TEXT("system:serviceaccount:kube-system:");
    return user.n == accounts.n + account.n && str_has_prefix(user, accounts) &&
           str_has_suffix(user, account);
}

bool is_pod_controller(struct str user, struct object_type owner) {
    for (size_t i = 0; i < sizeof pod_controllers / sizeof pod_controllers[0]; i++)
        if (str_eq(owner.kind, pod_controllers[i].owner.kind) &&
            str_eq(owner.group, pod_controllers[i].owner.group))
            return str_eq(user, STR("system:kube-controller-manager")) ||
                   is_account(user, pod_controllers[i].account);
    return false;
}

#include "model/workload.h"

#include "base/time.h"

/* From August 2015 on, before there were CronJobs, until tomorrow: clocks differ. */
enum { MINUTE_DIGITS = 8, FIRST_MINUTE = 24000000, DAY = 24 * 60 };

static int64_t last_minute(void) {
    return kube_wall_us() / (INT64_C(60) * 1000000) + DAY;
}

/* Does the name end with "-" and this? Then *name is what stands before. */
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

/* An object without a controller is its own, of this type. */
static struct workload_name controller_or(const struct object_meta *object,
                                          struct object_type own) {
    if (str_empty(object->controller_kind))
        return (struct workload_name){own, object->name};
    return (struct workload_name){{api_group(object->controller_api), object->controller_kind},
                                  object->controller_name};
}

struct workload_name controller_of(const struct object_meta *pod) {
    return controller_or(pod, (struct object_type){STR(""), STR("Pod")});
}

struct workload_name placement_controller_of(const struct object_meta *placement) {
    return controller_or(placement, (struct object_type){STR("cluster.open-cluster-management.io"),
                                                         STR("Placement")});
}

struct workload_name workload_of(struct workload_name controller, label_lookup_fn *lookup,
                                 const void *labels) {
    struct workload_name ret = controller;
    struct str end;
    if (is_type(controller.type, STR("apps"), STR("ReplicaSet"))) {
        if (lookup(labels, STR(LABEL_TEMPLATE_HASH), &end) && cut(&ret.name, end))
            ret.type = (struct object_type){STR("apps"), STR("Deployment")};
        else if (lookup(labels, STR(LABEL_ROLLOUT_HASH), &end) && cut(&ret.name, end))
            ret.type = (struct object_type){STR("argoproj.io"), STR("Rollout")};
    } else if (is_type(controller.type, STR("batch"), STR("Job"))) {
        if (ends_with_minutes(controller.name, &end) && cut(&ret.name, end))
            ret.type = (struct object_type){STR("batch"), STR("CronJob")};
    }
    return ret;
}

bool is_daemon_set(struct object_type controller) {
    return is_type(controller, STR("apps"), STR("DaemonSet"));
}

bool is_node(struct object_type controller) {
    return is_type(controller, STR(""), STR("Node"));
}

bool controller_chooses_node(struct object_type controller) {
    return is_daemon_set(controller) || is_node(controller);
}

#include "evenness/workload.h"

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

struct workload_name workload_name_of(struct object_type controller, struct str name,
                                      label_lookup_fn *lookup, const void *labels) {
    struct workload_name ret = {controller, name};
    struct str end;
    if (str_eq(controller.group, STR("apps")) && str_eq(controller.kind, STR("ReplicaSet"))) {
        if (lookup(labels, STR("pod-template-hash"), &end) && cut(&ret.name, end))
            ret.type = (struct object_type){STR("apps"), STR("Deployment")};
        else if (lookup(labels, STR("rollouts-pod-template-hash"), &end) && cut(&ret.name, end))
            ret.type = (struct object_type){STR("argoproj.io"), STR("Rollout")};
    } else if (str_eq(controller.group, STR("batch")) && str_eq(controller.kind, STR("Job"))) {
        if (ends_with_minutes(name, &end) && cut(&ret.name, end))
            ret.type = (struct object_type){STR("batch"), STR("CronJob")};
    }
    return ret;
}

/*
 * kube-scheduler's configuration file: the parts that matter to an extender, decoded as strictly as
 * kube-scheduler decodes them. upstream: kube-scheduler config/v1 types.go
 * KubeSchedulerConfiguration.
 */
#pragma once

#include "check/report.h"
#include "yaml/yaml.h"

struct managed_resource {
    struct str name;
    bool ignored_by_scheduler;
};

struct scheduler_tls {
    bool insecure;
    struct str server_name;
    struct str cert_file, key_file, ca_file;
    struct str cert_data, key_data, ca_data; /* base64, as in the file */
};

struct scheduler_extender {
    struct str url_prefix, filter_verb, prioritize_verb, preempt_verb, bind_verb;
    int64_t weight;
    bool enable_https, node_cache_capable, ignorable;
    struct scheduler_tls tls;
    struct str http_timeout; /* as in the file; empty: not set */
    const struct managed_resource *resources;
    uint32_t resource_count;
    struct str json; /* the entry as it stands in the document */
};

enum { SCHEDULER_PERCENTAGE_UNSET = -1 };

/* The extension points of PodTopologySpread. */
enum spread_point {
    SPREAD_PRE_FILTER,
    SPREAD_FILTER,
    SPREAD_PRE_SCORE,
    SPREAD_SCORE,
    SPREAD_POINTS
};

struct scheduler_profile {
    int64_t percentage_of_nodes; /* percentageOfNodesToScore, or SCHEDULER_PERCENTAGE_UNSET */
    /* NULL: PodTopologySpread is on at this point; otherwise the list that turns it off
     * ("plugins.filter.disabled"). */
    const char *spread_off[SPREAD_POINTS];
    struct str json; /* the profile as it stands in the document */
};

struct scheduler_config {
    struct yaml_json doc;
    struct str old_version; /* the file's apiVersion if it is older than v1; otherwise "" */
    struct str ended_with; /* with old_version: the first Kubernetes release without that version */
    int64_t percentage_of_nodes; /* percentageOfNodesToScore, or SCHEDULER_PERCENTAGE_UNSET */
    bool has_kubeconfig; /* clientConnection.kubeconfig is set; otherwise it uses a pod's account */
    struct scheduler_profile *profiles;
    uint32_t profile_count;
    struct scheduler_extender *extenders;
    uint32_t extender_count;
    uint32_t refused_count; /* number of findings about values that cannot be decoded */
};

/*
 * Decodes the text of a file. Everything that kube-scheduler would refuse becomes an error among
 * the findings; an old version is an error, too, and is read as v1. Returns false if the text is
 * not YAML or is of another kind, so that nothing else can be checked. Memory is from the findings'
 * arena.
 */
bool scheduler_config_read(struct str text, struct scheduler_config *ret, struct check_report *out);

/* Returns the line of a member ("weight", "tlsConfig.caFile") of an object in the document; the
 * line of the object if it has no such member. */
uint32_t scheduler_config_line(const struct scheduler_config *c, struct str object,
                               const char *member, struct arena *arena);

/*
 * The command line of karmada-scheduler-estimator, and what it means here: a configuration with one
 * member cluster. Values are read as its flags are (pflag): true and false behind '=' only, '_' for
 * '-', -v=4.
 *
 * upstream: karmada v1.18.1 cmd/scheduler-estimator/app/options, pkg/sharedcli/{klogflag,
 * profileflag}, pkg/features; k8s.io/component-base logs/api/v1, featuregate; klog v2.
 */
#pragma once

#include "cli/options.h"

/* A switch that may not be set. */
enum gate_state { GATE_UNSET, GATE_OFF, GATE_ON };

/* Of --feature-gates, those that mean something here. */
struct estimator_gates {
    enum gate_state resource_quota, overcommit_protection;
    enum gate_state all_alpha; /* for those that are not set: both are alpha */
};

/* Texts are borrowed from argv, or literals. */
struct estimator_flags {
    const char *cluster_name;
    const char *kubeconfig, *master;              /* NULL: not given, or empty */
    const char *cert_file, *key_file, *client_ca; /* likewise */
    bool skip_client_verify;
    int64_t port;
    const char *metrics, *probes; /* "0": off */
    struct estimator_gates gates;
    int64_t verbosity;
    bool logs_json;
    struct strbuf unused; /* "kube-api-qps, v": given flags that mean nothing here */
};

/* Reads the command line. Wrong usage has been printed, and o->stopped is set. Call
 * estimator_flags_done() in any case. */
void estimator_flags_read(struct options *o, struct estimator_flags *ret);
void estimator_flags_done(struct estimator_flags *f);

/* What the flags mean, over the defaults of `c`, which must be initialised. The texts of `c` are in
 * its arena or borrowed from the flags. 0 or -ENOMEM. */
int estimator_flags_apply(const struct estimator_flags *f, struct configuration *c,
                          struct err *err) MUST_CHECK;
/* Were files for TLS given that do not make up for TLS? Then it is plaintext, as upstream. */
bool estimator_flags_lack_tls(const struct estimator_flags *f);

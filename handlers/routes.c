#include "handlers/routes.h"

#include "extender/verbs.h"
#include "handlers/clusters.h"
#include "handlers/explain.h"
#include "handlers/extender.h"
#include "handlers/log_level.h"
#include "handlers/ops.h"
#include "handlers/topology.h"
#include "handlers/webhook.h"

enum { PROBES = 2 };
static const struct http_route ops[] = {
    {"GET", "/healthz", "healthz", ops_livez, HTTP_ANY},
    {"GET", "/readyz", "readyz", ops_readyz, HTTP_ANY},
    {"GET", "/livez", "livez", ops_livez, HTTP_ANY},
    {"GET", "/metrics", "metrics", ops_metrics, HTTP_ANY},
    {"GET", "/version", "version", ops_version, HTTP_ANY},
};
const struct http_routes ops_routes = HTTP_ROUTES(ops);
const struct http_routes probe_routes = {.rows = ops, .count = PROBES};

static const struct http_route explain[] = {
    {"GET", "/explain", "explain", explain_decisions, HTTP_ANY},
    {"GET", "/explain/pods/*", "explain", explain_pod, HTTP_ANY},
    {"GET", "/explain/placements/*", "explain", explain_placement, HTTP_ANY},
    {"POST", "/explain", "explain", explain_what_if, HTTP_JSON},
};
const struct http_routes explain_routes = HTTP_ROUTES(explain);

static const struct http_route topology[] = {
    {"GET", "/topology", "topology", topology_report, HTTP_ANY},
};
const struct http_routes topology_routes = HTTP_ROUTES(topology);

static const struct http_route log_level_of[] = {
    {"GET", "/log-level", "log-level", log_level_get, HTTP_ANY},
    {"PUT", "/log-level", "log-level", log_level_put, HTTP_ANY},
};
const struct http_routes log_level_routes = HTTP_ROUTES(log_level_of);

#define JUDGING(constant, verb, field, about)                                                      \
    {"POST", EXTENDER_PATH "/" #verb, #verb, extender_##verb, HTTP_LARGE_JSON},
#define ROUTE(constant, verb, field, about)                                                        \
    {"POST", EXTENDER_PATH "/" #verb, #verb, extender_##verb, HTTP_JSON},
static const struct http_route extender[] = {EXTENDER_JUDGING_LIST(JUDGING)};
static const struct http_route extender_binding[] = {EXTENDER_BINDING_LIST(ROUTE)};
const struct http_routes extender_routes = HTTP_ROUTES(extender);
const struct http_routes extender_binding_routes = HTTP_ROUTES(extender_binding);
const struct http_routes extender_binding_off =
    HTTP_ROUTES_OFF(extender_binding, "binding is off: set extender.bind (--extender-bind), or "
                                      "remove bindVerb from kube-scheduler's configuration");

static const struct http_route clusters[] = {
    {"POST", "/clusters/v1/filter", "clusters/filter", clusters_filter, HTTP_LARGE_JSON},
    {"POST", "/clusters/v1/prioritize", "clusters/prioritize", clusters_prioritize,
     HTTP_LARGE_JSON},
    {"POST", "/clusters/v1/select", "clusters/select", clusters_select, HTTP_LARGE_JSON},
    {"POST", "/clusters/v1/assign", "clusters/assign", clusters_assign, HTTP_LARGE_JSON},
    {"POST", "/clusters/v1/estimate", "clusters/estimate", clusters_estimate, HTTP_LARGE_JSON},
};
const struct http_routes clusters_routes = HTTP_ROUTES(clusters);

/* One route for each reviewed kind, in the table of the kind's family. */
#define OF_PODS_pods(...) __VA_ARGS__
#define OF_PODS_placements(...)
#define OF_HUB_pods(...)
#define OF_HUB_placements(...) __VA_ARGS__
#define REVIEW(name) {"POST", ADMISSION_PATH name, name, webhook_review, HTTP_JSON},
#define REVIEW_OF_PODS(constant, name, family) OF_PODS_##family(REVIEW(name))
#define REVIEW_OF_HUB(constant, name, family) OF_HUB_##family(REVIEW(name))
static const struct http_route webhook_pods[] = {ADMITTED_LIST(REVIEW_OF_PODS)};
static const struct http_route webhook_hub[] = {ADMITTED_LIST(REVIEW_OF_HUB)};
const struct http_routes webhook_pod_routes = HTTP_ROUTES(webhook_pods);
const struct http_routes webhook_pods_off =
    HTTP_ROUTES_OFF(webhook_pods, "pods are not reviewed here: set webhook.pods, or remove the "
                                  "webhook configuration that asks about them");
const struct http_routes webhook_hub_routes = HTTP_ROUTES(webhook_hub);

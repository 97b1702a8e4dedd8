/*
 * The routes of every listener: one table for each group of handlers that share a ctx. The daemon's
 * listeners read the tables, and a test compares the documents with them.
 */
#pragma once

#include "http/http.h"

/* Routes of the ops listener. */
extern const struct http_routes ops_routes;       /* ctx: struct ops */
extern const struct http_routes explain_routes;   /* ctx: struct explain */
extern const struct http_routes topology_routes;  /* ctx: struct topology_door */
extern const struct http_routes log_level_routes; /* ctx: struct explain_access */
/* Routes of the listener for probes: the same /healthz and /readyz as on the ops listener. */
extern const struct http_routes probe_routes; /* ctx: struct ops */
/* Routes of the extender's listener: one for each verb; bind has a table of its own, because it is
 * served only if it is configured. */
extern const struct http_routes extender_routes;         /* ctx: struct extender */
extern const struct http_routes extender_binding_routes; /* ctx: struct extender */
extern const struct http_routes extender_binding_off;    /* answers if bind is not served */
extern const struct http_routes clusters_routes;         /* ctx: struct clusters */
/* Routes of the webhook's listener. */
extern const struct http_routes webhook_pod_routes; /* ctx: struct webhook */
extern const struct http_routes webhook_pods_off;   /* answers if no pods are reviewed */
extern const struct http_routes webhook_hub_routes; /* ctx: struct webhook; kinds of a hub */

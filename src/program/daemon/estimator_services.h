/*
 * The Services by which karmada-scheduler finds the estimator, if `estimator.services` is on: runs
 * their controller (controllers/estimator_services.h) and the watch that feeds it.
 *
 * Threads: all calls belong to the main thread.
 */
#pragma once

#include "config/configuration.h"
#include "daemon/leadership.h"

struct karmada_members;
struct estimator_services_door;

/* Starts at once. If Services are off, returns 0 with *ret NULL. The arguments are borrowed until
 * estimator_services_door_stop(). */
int estimator_services_door_start(const struct configuration *configuration,
                                  const struct servers *servers,
                                  const struct leadership *leadership,
                                  const struct karmada_members *members,
                                  struct estimator_services_door **ret, struct err *err) MUST_CHECK;
/* Stops the controller; its Services stay. NULL is fine. */
void estimator_services_door_stop(struct estimator_services_door *d);

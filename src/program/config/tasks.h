/*
 * Groups the settings by task: the headings of `evenkeel serve --help` and of the manual page, and
 * the first table of docs/configuration.md.
 */
#pragma once

#include <stddef.h>

struct configuration_task {
    const char *name;        /* "Answer kube-scheduler" */
    const char *sections[6]; /* the file's: "extender", "reservations"; NULL ends them */
};

/* Returns the task at `index`, in the order of the help; NULL after the last. */
const struct configuration_task *configuration_task_at(size_t index);
/* Returns the task that a setting belongs to, by its path; NULL for apiVersion and kind. */
const struct configuration_task *configuration_task_of(const char *path);

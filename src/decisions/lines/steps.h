/* The steps of this folder. A file holds one step or a few small steps. */
#pragma once

#include "lines/lines.h"

line_step_fn line_plan;      /* plan.c */
line_step_fn line_normalise; /* scores.c */
line_step_fn line_range;
line_step_fn line_quantity; /* quantity.c */
line_step_fn line_wire;     /* wire.c */
line_step_fn line_groups;   /* karmada_select.c */
line_step_fn line_select;
line_step_fn line_available;     /* karmada_available.c */
line_step_fn line_assign;        /* karmada_assign.c */
line_step_fn line_bind;          /* karmada_bind.c */
line_step_fn line_schedule;      /* karmada_schedule.c */
line_step_fn line_estimate;      /* karmada_estimate.c */
line_step_fn line_unschedulable; /* karmada_unschedulable.c */

/*
 * The commands of main.c's table: each command has its own file. argv[0] is the command's own name.
 * Exit codes: 0 done, 1 failed or the result is negative, 2 wrong usage; 3 see cli/workloads.h.
 */
#pragma once

#include "cli/options.h"

int cmd_serve(int argc, char **argv);
int cmd_estimator(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_simulate(int argc, char **argv);
int cmd_topology(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_certs(int argc, char **argv);
int cmd_give_back(int argc, char **argv);
int cmd_remote(int argc, char **argv);
int cmd_completion(int argc, char **argv);
int cmd_man(int argc, char **argv);
int cmd_version(int argc, char **argv);

/* The options and help of each command, in its own file. check_command has no options itself. */
extern const struct command serve_command, estimator_command, explain_command, simulate_command,
    topology_command, check_command, check_config_command, check_scheduler_command,
    check_cluster_command, check_policy_command, check_workload_command, check_estimator_command,
    certs_init_command, certs_show_command, certs_check_command, give_back_command, remote_command,
    completion_command, man_command, version_command;

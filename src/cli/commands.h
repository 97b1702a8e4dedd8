/*
 * The commands of main.c's table: one file each. argv[0] is the command's own name.
 * Exit codes: 0 done, 1 failed or the answer is no, 2 wrong usage.
 */
#pragma once

int cmd_serve(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_simulate(int argc, char **argv);
int cmd_topology(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_certs(int argc, char **argv);
int cmd_remote(int argc, char **argv);
int cmd_version(int argc, char **argv);

/*
 * The command table. Everything a command does is in its own file under cli/.
 */
#include "base/str.h"
#include "base/suggest.h"
#include "cli/commands.h"
#include "cli/terminal.h"

#include <stdio.h>
#include <stdlib.h>

static const struct main_command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"serve", "the daemon: webhook, extender, estimator, Placements of a fleet", cmd_serve},
    {"estimator", "answer karmada-scheduler over gRPC, in the place of its estimator",
     cmd_estimator},
    {"explain", "ask the daemon why a pod or a Placement is where it is", cmd_explain},
    {"simulate", "say where a pod, a Placement or a binding of Karmada would go", cmd_simulate},
    {"topology", "show how even workloads are, and list nodes or clusters of a fleet",
     cmd_topology},
    {"check", "look for mistakes in configuration, policies, a cluster", cmd_check},
    {"certs", "make, show and check certificates", cmd_certs},
    {"give-back", "give Placements back to Open Cluster Management, to uninstall", cmd_give_back},
    {"remote", "run a command for kubectl evenkeel, with files from standard input", cmd_remote},
    {"completion", "print completion for bash or zsh", cmd_completion},
    {"man", "print the manual page", cmd_man},
    {"version", "print the version", cmd_version},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static int help(FILE *to) {
    fputs("Evenkeel keeps Kubernetes workloads even across failure domains: pods on the\n"
          "nodes of a cluster, Placements and bindings on the clusters of a fleet. It also\n"
          "keeps pods close to their data.\n\n"
          "usage: evenkeel COMMAND [OPTIONS]\n\n",
          to);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fputs("\n`evenkeel COMMAND --help` and `evenkeel help COMMAND` explain a command.\n", to);
    if (fflush(to) == 0)
        return EXIT_SUCCESS;
    fputs("evenkeel: cannot write to standard output\n", stderr);
    return EXIT_FAILURE;
}

static void unknown(const char *name) {
    struct suggestion near = suggestion_for(str_of(name));
    for (size_t i = 0; i < COMMANDS; i++)
        suggestion_offer(&near, commands[i].name);
    fprintf(stderr, "evenkeel: unknown command '%s'", name);
    if (near.best != NULL)
        fprintf(stderr, "; did you mean '%s'?", near.best);
    fputs("\n\n", stderr);
}

static int run_command(int argc, char **argv) {
    struct str name = str_of(argc > 0 ? argv[0] : "");
    for (size_t i = 0; i < COMMANDS; i++)
        if (str_eq(name, str_of(commands[i].name)))
            return commands[i].run(argc, argv);
    if (name.n > 0)
        unknown(argv[0]);
    (void)help(stderr);
    return 2;
}

int main(int argc, char **argv) {
    static char option[] = "--help";
    struct str name = str_of(argc > 1 ? argv[1] : "");
    bool is_help =
        str_eq(name, STR("--help")) || str_eq(name, STR("-h")) || str_eq(name, STR("help"));
    if (is_help && argc == 2)
        return help(stdout);
    if (str_eq(name, STR("--version")))
        return cmd_version(1, argv + 1);
    terminal_use();
    if (!is_help)
        return run_command(argc - 1, argv + 1);
    char *words[] = {argv[2], argc > 3 ? argv[3] : option, argc > 3 ? option : NULL, NULL};
    return run_command(argc > 3 ? 3 : 2, words); /* help check config: check config --help */
}

/*
 * Command lines: `evenkeel COMMAND [--long-option VALUE | --long-option=VALUE | -o VALUE | -h]
 * [ARGUMENT...]`. Options and arguments may come in any order; "--" ends the options.
 *
 *     struct options o;
 *     struct option_value v;
 *     options_init(&o, &command, argc, argv);
 *     while (options_next(&o, &v))
 *         if (v.spec == &specs[0])
 *             path = v.text;
 *     if (o.stopped)
 *         return o.exit_status;
 *
 * Help is printed on stdout, and the command ends with status 0. A word that is not understood is
 * reported on stderr, with the nearest word that would be, and the command ends with EXIT_USAGE.
 */
#pragma once

#include "base/err.h"
#include "config/configuration.h"

#include <stdbool.h>
#include <stddef.h>

enum { EXIT_USAGE = 2 };

struct option_spec {
    const char *name;  /* "output" for --output */
    char letter;       /* 'o' for -o as well; 0: none */
    const char *value; /* the value's name in help, "FORMAT"; NULL: the option takes no value;
                          "[BOOL]": only behind '=', and "true" without one */
    const char *help;
};

struct option_heading {
    size_t before;    /* the index of the option below it */
    const char *text; /* "About a Placement"; NULL ends the list */
};

/* A command, as its help shows it; constant. Every command understands --help, and with flags of
 * the configuration --help-serve. */
struct command {
    const char *name;  /* "check config" */
    const char *usage; /* "FILE [options]" */
    const char *about; /* what it does and how it ends: lines of at most 80 characters */
    void (*list)(struct strbuf *out); /* appends the rows of a table to `about`; or NULL */
    const char *example;              /* shell lines that work */
    const struct option_spec *specs;
    size_t spec_count;
    const struct option_heading *headings; /* above options that few people need; NULL: none */
    bool configuration_flags; /* the command takes every flag of EvenkeelConfiguration, too */
    const char *first_flags;  /* those that its help has, in this order: "state kubeconfig" */
    bool every_flag;          /* its help has the others, too; otherwise --help-serve has them */
    bool underscores; /* --add_dir_header is --add-dir-header. upstream: k8s.io/component-base
                         cli/flag WordSepNormalizeFunc */
};

struct options {
    const struct command *command;
    int argc;
    char **argv;
    int at;              /* index of the next argument to read */
    bool arguments_only; /* "--" has been seen */
    bool stopped;        /* the command must end with exit_status */
    int exit_status;
};

/* One step. An option of the command has a spec, a flag of the configuration has a flag, and an
 * argument has neither. */
struct option_value {
    const struct option_spec *spec;
    const char *flag; /* "extender-listen"; borrowed from argv or literal */
    const char *text; /* the value or argument; NULL for options that take none */
};

/* argv[0] is the command's own name and is skipped. Both are borrowed. */
void options_init(struct options *o, const struct command *command, int argc, char **argv);
/* Reads the next option or argument. Returns false at the end, and if `stopped` is set. */
bool options_next(struct options *o, struct option_value *ret);
/* Prints on stderr why the command line is wrong, and where help is. Sets `stopped`. */
void options_fail(struct options *o, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The value of -o: "table" or "json"; fails for anything else. */
bool options_output_is_json(struct options *o, const char *text);

/*
 * The configuration that this command line asks for: defaults, then the file at `path` unless it is
 * NULL, then the flags, wherever they stand. `c` must be initialised, and the caller still owns it.
 * Does not check the configuration as a whole: see configuration_check(). 0 or -errno. Errors of
 * the command line, values of flags included, have been printed, and `stopped` is set. The caller
 * must print the other errors: those of the file, or that there is no memory.
 */
int options_configure(struct options *o, const char *path, struct configuration *c,
                      struct err *err) MUST_CHECK;

/* The same for a command that asks about one state: what a flag names (--state, --kubeconfig or
 * --in-cluster) takes the place of what the file names, and two of these are wrong usage. */
int options_configure_source(struct options *o, const char *path, struct configuration *c,
                             struct err *err) MUST_CHECK;

/* The options that every command takes: the first, and with flags of the configuration both. */
extern const struct option_spec common_options[2];

/* The heading above the option at `index`, or NULL. */
const char *command_heading(const struct command *command, size_t index);

/* Appends the command's help, with all flags of the configuration or those that it shows. */
void command_help(const struct command *command, bool all_flags, struct strbuf *out);

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
 * Help is printed on stdout, and the command ends with status 0. An unknown word is reported on
 * stderr, with the nearest known word, and the command ends with EXIT_USAGE.
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
                          "[BOOL]": a value is only read after '='; without '=' it is "true" */
    const char *help;
};

struct option_heading {
    size_t before;    /* the index of the first option below the heading */
    const char *text; /* "About a Placement"; NULL ends the list */
};

/* A command and its help; constant. Every command takes --help; commands with flags of the
 * configuration take --help-serve, too. */
struct command {
    const char *name;  /* "check config" */
    const char *usage; /* "FILE [options]" */
    const char *about; /* its purpose and exit codes: lines of at most 80 characters */
    void (*list)(struct strbuf *out); /* appends the rows of a table to `about`; or NULL */
    const char *example;              /* shell lines that work */
    const struct option_spec *specs;
    size_t spec_count;
    const struct option_heading *headings; /* above options that few people need; NULL: none */
    bool configuration_flags; /* the command takes every flag of EvenkeelConfiguration, too */
    const char *first_flags;  /* flags that its help shows, in this order: "state kubeconfig" */
    bool every_flag;  /* its help shows the other flags, too; otherwise only --help-serve does */
    bool underscores; /* --add_dir_header means --add-dir-header. upstream: k8s.io/component-base
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

/* One option or argument. An option of the command has a spec, a flag of the configuration has a
 * flag, and an argument has neither. */
struct option_value {
    const struct option_spec *spec;
    const char *flag; /* "extender-listen"; borrowed from argv or literal */
    const char *text; /* the value or argument; NULL for an option without a value */
};

/* argv[0] is the command's own name and is skipped. Both are borrowed. */
void options_init(struct options *o, const struct command *command, int argc, char **argv);
/* Reads the next option or argument. Returns false at the end, and if `stopped` is set. */
bool options_next(struct options *o, struct option_value *ret);
/* Prints on stderr why the command line is wrong, and where help is. Sets `stopped`. */
void options_fail(struct options *o, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Is this value of -o "json"? Calls options_fail() if it is neither "table" nor "json". */
bool options_output_is_json(struct options *o, const char *text);
/* Sets *ret_ms to the value of --NAME, a duration of 1 ms to `most_s` seconds. Calls options_fail()
 * for any other text. */
void options_read_duration(struct options *o, const char *name, const char *text, int64_t most_s,
                           int64_t *ret_ms);

/*
 * Sets `c` as this command line asks: first the defaults, then the file at `path` unless it is
 * NULL, then the flags in any place. `c` must be initialised, and the caller still owns it. Does
 * not check the configuration as a whole: see configuration_check(). Returns 0 or -errno. Errors of
 * the command line, values of flags included, are printed, and `stopped` is set. The caller must
 * print other errors: of the file, or out of memory.
 */
int options_configure(struct options *o, const char *path, struct configuration *c,
                      struct err *err) MUST_CHECK;

/* Like options_configure(), for a command with one source of state: --state, --kubeconfig or
 * --in-cluster replaces the source that the file names, and two of these flags are wrong usage. */
int options_configure_source(struct options *o, const char *path, struct configuration *c,
                             struct err *err) MUST_CHECK;

/* --help of every command, and --help-serve of commands with flags of the configuration. */
extern const struct option_spec common_options[2];

/* Returns the heading above the option at `index`, or NULL. */
const char *command_heading(const struct command *command, size_t index);

/* Appends the command's help, with all flags of the configuration or only those that it shows. */
void command_help(const struct command *command, bool all_flags, struct strbuf *out);

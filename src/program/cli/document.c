/*
 * Makes shell completion and the manual page from the option tables: `evenkeel completion` and
 * `evenkeel man`.
 */
#include "base/version.h"
#include "cli/commands.h"
#include "config/tasks.h"

#include <stdio.h>
#include <stdlib.h>

static const struct command *const documented[] = {
    &serve_command,           &estimator_command,       &explain_command,
    &simulate_command,        &topology_command,        &check_config_command,
    &check_scheduler_command, &check_cluster_command,   &check_policy_command,
    &check_workload_command,  &check_estimator_command, &certs_init_command,
    &certs_show_command,      &certs_check_command,     &give_back_command,
    &remote_command,          &completion_command,      &man_command,
    &version_command,
};
enum { DOCUMENTED = sizeof documented / sizeof documented[0] };

const struct command completion_command = {
    .name = "completion",
    .usage = "bash | zsh",
    .about = "Prints what a shell needs to complete commands, options and their values.\n"
             "Exit codes: 0 printed, 1 failed, 2 wrong usage.",
    .example = "source <(evenkeel completion bash)\n"
               "evenkeel completion zsh > \"${fpath[1]}/_evenkeel\"",
};

const struct command man_command = {
    .name = "man",
    .usage = "",
    .about = "Prints the manual page, evenkeel(1). Exit codes: 0 printed, 1 failed, 2 wrong usage.",
    .example = "evenkeel man | man -l -",
};

static int print(const struct command *command, const struct strbuf *out) {
    bool good = !strbuf_failed(out);
    if (good && fwrite(out->p, 1, out->n, stdout) == out->n && fflush(stdout) == 0)
        return EXIT_SUCCESS;
    (void)fprintf(stderr, "evenkeel %s: %s\n", command->name, /* nowhere to report to */
                  good ? "cannot write to standard output" : "no memory for the answer");
    return EXIT_FAILURE;
}

/* ---- completion ---- */

/* Returns "check" of "check config"; the whole name if it is one word. */
static struct str first_word(const struct command *command) {
    struct str name = str_of(command->name);
    size_t blank = str_find(name, ' ');
    return (struct str){name.p, blank == SIZE_MAX ? name.n : blank};
}

static const char *second_word(const struct command *command) {
    const char *blank = strchr(command->name, ' ');
    return blank != NULL ? blank + 1 : NULL;
}

static void put_first_words(struct strbuf *out) {
    struct str last = STR("");
    for (size_t i = 0; i < DOCUMENTED; i++) {
        struct str word = first_word(documented[i]);
        if (!str_eq(word, last))
            strbuf_appendf(out, "%s%.*s", last.n > 0 ? " " : "", STR_ARG(word));
        last = word;
    }
}

/* Appends lines like: check) words="config ..." ;; */
static void put_second_words(struct strbuf *out) {
    struct str last = STR("");
    for (size_t i = 0; i < DOCUMENTED; i++) {
        const char *word = second_word(documented[i]);
        if (word == NULL)
            continue;
        bool goes_on = str_eq(first_word(documented[i]), last);
        if (!goes_on)
            strbuf_appendf(out, "%s    %.*s) words='%s", last.n > 0 ? "' ;;\n" : "",
                           STR_ARG(first_word(documented[i])), word);
        else
            strbuf_appendf(out, " %s", word);
        last = first_word(documented[i]);
    }
    strbuf_append_str(out, STR("' ;;\n"));
}

static void put_spec(const struct option_spec *spec, struct strbuf *out) {
    strbuf_appendf(out, " --%s", spec->name);
    if (spec->letter != 0)
        strbuf_appendf(out, " -%c", spec->letter);
}

static void put_flags(struct strbuf *out) {
    struct configuration_option option;
    for (size_t i = 0; configuration_option_at(i, &option); i++)
        if (option.flag != NULL)
            strbuf_appendf(out, " --%s", option.flag);
}

/* Appends lines like: 'check config'*) words='--output -o --help' ;; */
static void put_options(struct strbuf *out) {
    for (size_t i = 0; i < DOCUMENTED; i++) {
        const struct command *c = documented[i];
        strbuf_appendf(out, "    '%s') words='", c->name);
        for (size_t s = 0; s < c->spec_count; s++)
            put_spec(&c->specs[s], out);
        put_spec(&common_options[0], out);
        if (c->configuration_flags)
            put_spec(&common_options[1], out);
        strbuf_appendf(out, "'%s ;;\n", c->configuration_flags ? "\"$flags\"" : "");
    }
}

/* Appends the possible values: "table json"; "/" for files; "" if they are not known. */
static void put_values(const char *value, struct strbuf *out) {
    bool lower = value[0] >= 'a' && value[0] <= 'z';
    if (strcmp(value, "FORMAT") == 0)
        strbuf_append_str(out, STR("table json"));
    else if (strncmp(value, "FILE", 4) == 0 || strcmp(value, "DIR") == 0 ||
             strcmp(value, "PATH") == 0)
        strbuf_append_char(out, '/');
    else if (strchr(value, '|') != NULL || lower)
        for (const char *p = value; *p != '\0'; p++)
            strbuf_append_char(out, *p == '|' ? ' ' : *p);
}

static void put_value_row(const char *name, char letter, const char *value, struct strbuf *out) {
    strbuf_appendf(out, "    --%s", name);
    if (letter != 0)
        strbuf_appendf(out, " | -%c", letter);
    strbuf_appendf(out, ") values='");
    put_values(value, out);
    strbuf_append_str(out, STR("' ;;\n"));
}

/* Appends lines like: --pod) values='/' ;; */
static void put_value_rows(struct strbuf *out) {
    struct configuration_option option;
    for (size_t i = 0; i < DOCUMENTED; i++)
        for (size_t s = 0; s < documented[i]->spec_count; s++) {
            const struct option_spec *spec = &documented[i]->specs[s];
            if (spec->value != NULL)
                put_value_row(spec->name, spec->letter, spec->value, out);
        }
    for (size_t i = 0; configuration_option_at(i, &option); i++)
        if (option.flag != NULL && !option.is_switch)
            put_value_row(option.flag, 0, option.value_name, out);
}

/* Appends a shell function. It sets $words to the possible next words, or $values to the possible
 * values of the option before. Both shells get the same text. */
static void put_function(struct strbuf *out) {
    strbuf_append_str(out, STR("_next_word_of_evenkeel() { # FIRST SECOND PREVIOUS INDEX\n"
                               "    words='' values=none\n"
                               "    local flags='"));
    put_flags(out);
    strbuf_append_str(out, STR("'\n    case $3 in\n"));
    put_value_rows(out);
    strbuf_append_str(out, STR("    esac\n"
                               "    [ \"$values\" = none ] || return 0\n"
                               "    if [ \"$4\" -eq 1 ]; then\n        words='"));
    put_first_words(out);
    strbuf_append_str(out, STR("'\n        return 0\n    fi\n"
                               "    if [ \"$4\" -eq 2 ]; then\n    case $1 in\n"));
    put_second_words(out);
    strbuf_append_str(out, STR("    completion) words='bash zsh --help -h' ;;\n"
                               "    esac\n    [ -z \"$words\" ] || return 0\n    fi\n"
                               "    case $1 in\n"
                               "    check | certs) set -- \"$1 $2\" ;;\n    esac\n"
                               "    case $1 in\n"));
    put_options(out);
    strbuf_append_str(out, STR("    esac\n}\n"));
}

static void print_bash(struct strbuf *out) {
    put_function(out);
    strbuf_append_str(
        out, STR("_evenkeel() {\n"
                 "    local words values current=${COMP_WORDS[COMP_CWORD]}\n"
                 "    COMPREPLY=()\n"
                 "    _next_word_of_evenkeel \"${COMP_WORDS[1]-}\" \"${COMP_WORDS[2]-}\" "
                 "\"${COMP_WORDS[COMP_CWORD - 1]}\" \"$COMP_CWORD\"\n"
                 "    if [ \"$values\" = / ]; then\n"
                 "        compopt -o filenames 2>/dev/null # blanks are quoted\n"
                 "        mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
                 "    elif [ \"$values\" != none ]; then\n"
                 "        mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$current\")\n"
                 "    elif [ \"$COMP_CWORD\" -le 2 ] || [[ $current == -* ]]; then\n"
                 "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
                 "    fi\n"
                 "}\n"
                 "complete -o default -F _evenkeel evenkeel\n"));
}

static void print_zsh(struct strbuf *out) {
    strbuf_append_str(out, STR("#compdef evenkeel\n"));
    put_function(out);
    strbuf_append_str(
        out,
        STR("_evenkeel() {\n"
            "    local -a line=(\"${(@)words}\")\n"
            "    local words values\n"
            "    _next_word_of_evenkeel \"${line[2]-}\" \"${line[3]-}\" \"${line[CURRENT - 1]}\" "
            "$((CURRENT - 1))\n"
            "    if [ \"$values\" = / ]; then\n"
            "        _files\n"
            "    elif [ \"$values\" != none ]; then\n"
            "        compadd -- ${=values}\n"
            "    elif [ \"$CURRENT\" -le 3 ] || [[ ${line[CURRENT]} == -* ]]; then\n"
            "        compadd -- ${=words} || _files\n"
            "    else\n"
            "        _files\n"
            "    fi\n"
            "}\n"
            "[ \"${funcstack[1]-}\" = _evenkeel ] && _evenkeel \"$@\" || "
            "compdef _evenkeel evenkeel\n"));
}

int cmd_completion(int argc, char **argv) {
    CLEANUP(strbuf_done) struct strbuf out = {.max = 1 << 20};
    struct options o;
    struct option_value v;
    const char *shell = NULL;
    options_init(&o, &completion_command, argc, argv);
    while (options_next(&o, &v))
        if (shell == NULL)
            shell = v.text;
        else
            options_fail(&o, "unexpected argument '%s'", v.text);
    if (!o.stopped && shell == NULL)
        options_fail(&o, "for which shell? bash or zsh");
    else if (!o.stopped && strcmp(shell, "bash") == 0)
        print_bash(&out);
    else if (!o.stopped && strcmp(shell, "zsh") == 0)
        print_zsh(&out);
    else if (!o.stopped)
        options_fail(&o, "no completion for '%s'; there is bash and zsh", shell);
    return o.stopped ? o.exit_status : print(&completion_command, &out);
}

/* ---- the manual page ---- */

/* Escapes text so that troff prints it unchanged; lines stay lines if filling is off. */
static void put_text(struct str text, struct strbuf *out) {
    bool begins = true;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (begins && (c == '.' || c == '\''))
            strbuf_append_str(out, STR("\\&"));
        if (c == '\\')
            strbuf_append_str(out, STR("\\e"));
        else if (c == '-')
            strbuf_append_str(out, STR("\\-"));
        else if (c == '\'')
            strbuf_append_str(out, STR("\\(aq"));
        else if (c == '~')
            strbuf_append_str(out, STR("\\(ti"));
        else if (c == '^')
            strbuf_append_str(out, STR("\\(ha"));
        else if (c == '`')
            strbuf_append_str(out, STR("\\(ga"));
        else
            strbuf_append_char(out, c);
        begins = c == '\n';
    }
}

static void put_as_it_is(const char *before, struct str text, struct strbuf *out) {
    strbuf_appendf(out, ".PP\n%s.nf\n", before);
    put_text(str_trim(text), out);
    strbuf_append_str(out, STR("\n.fi\n"));
}

static void put_entry(const char *name, char letter, const char *value, struct strbuf *out) {
    strbuf_append_str(out, STR(".TP\n\\fB"));
    if (letter != 0)
        strbuf_appendf(out, "\\-%c\\fR, \\fB", letter);
    strbuf_append_str(out, STR("\\-\\-"));
    put_text(str_of(name), out);
    strbuf_append_str(out, STR("\\fR"));
    if (value != NULL) {
        strbuf_append_str(out, STR(" \\fI"));
        put_text(str_of(value), out);
        strbuf_append_str(out, STR("\\fR"));
    }
    strbuf_append_char(out, '\n');
}

static void put_option(const struct option_spec *spec, struct strbuf *out) {
    put_entry(spec->name, spec->letter, spec->value, out);
    put_text(str_of(spec->help), out);
    strbuf_append_char(out, '\n');
}

static void put_heading(const char *text, struct strbuf *out) {
    strbuf_append_str(out, STR(".PP\n\\fB"));
    put_text(str_of(text), out);
    strbuf_append_str(out, STR("\\fR\n"));
}

static void put_command(const struct command *c, struct strbuf *out) {
    CLEANUP(strbuf_done) struct strbuf list = {.max = 1 << 16};
    strbuf_append_str(out, STR(".SS "));
    put_text(str_of(c->name), out);
    strbuf_append_str(out, STR("\n.nf\n\\fBevenkeel "));
    put_text(str_of(c->name), out);
    strbuf_append_str(out, STR("\\fR "));
    put_text(str_of(c->usage), out);
    strbuf_append_str(out, STR("\n.fi\n"));
    put_as_it_is("", str_of(c->about), out);
    if (c->list != NULL) {
        c->list(&list);
        put_as_it_is("", strbuf_str(&list), out);
    }
    for (size_t i = 0; i < c->spec_count; i++) {
        if (command_heading(c, i) != NULL)
            put_heading(command_heading(c, i), out);
        put_option(&c->specs[i], out);
    }
    if (c->configuration_flags) {
        strbuf_append_str(out, STR(".PP\nAll of SETTINGS, too.\n"));
    }
    put_as_it_is("Example:\n.PP\n", str_of(c->example), out);
}

static void put_setting(const struct configuration_option *option, struct strbuf *out) {
    put_entry(option->flag, 0, option->is_switch ? NULL : option->value_name, out);
    put_text(str_of(option->help), out);
    if (option->is_list)
        strbuf_append_str(out, STR(" May be repeated."));
    if (option->default_text[0] != '\0') {
        strbuf_append_str(out, STR(" Default: "));
        put_text(str_of(option->default_text), out);
        strbuf_append_char(out, '.');
    }
    strbuf_append_str(out, STR(" In the configuration file: "));
    put_text(str_of(option->path), out);
    strbuf_append_str(out, STR(".\n"));
}

/* Appends every setting that is a flag, below the heading of its task. */
static void put_settings(struct strbuf *out) {
    const struct configuration_task *task;
    struct configuration_option option;
    for (size_t t = 0; (task = configuration_task_at(t)) != NULL; t++) {
        put_heading(task->name, out);
        for (size_t i = 0; configuration_option_at(i, &option); i++)
            if (option.flag != NULL && configuration_task_of(option.path) == task)
                put_setting(&option, out);
    }
}

static void print_man(struct strbuf *out) {
    strbuf_appendf(out,
                   ".TH EVENKEEL 1 \"\" \"Evenkeel %s\" \"\"\n.nh\n.ad l\n.SH NAME\n"
                   "evenkeel \\- keeps Kubernetes workloads even across failure domains and close "
                   "to their data\n.SH SYNOPSIS\n.B evenkeel\n.I COMMAND\n[options]\n"
                   ".SH COMMANDS\nOptions and arguments may come in any order; \\-\\- ends the "
                   "options.\nEvery command understands \\fB\\-h\\fR, \\fB\\-\\-help\\fR; those "
                   "with SETTINGS also \\fB\\-\\-help\\-serve\\fR, which shows these.\n",
                   EVENKEEL_VERSION);
    for (size_t i = 0; i < DOCUMENTED; i++)
        put_command(documented[i], out);
    strbuf_append_str(out, STR(".SH SETTINGS\nThey override the configuration file.\n"));
    put_settings(out);
}

int cmd_man(int argc, char **argv) {
    CLEANUP(strbuf_done) struct strbuf out = {.max = 1 << 20};
    struct options o;
    struct option_value v;
    options_init(&o, &man_command, argc, argv);
    while (options_next(&o, &v))
        options_fail(&o, "unexpected argument '%s'", v.text);
    if (o.stopped)
        return o.exit_status;
    print_man(&out);
    return print(&man_command, &out);
}

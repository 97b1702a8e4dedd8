#include "cli/options.h"

#include "base/duration.h"
#include "base/suggest.h"
#include "config/tasks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

const struct option_spec common_options[2] = {
    {.name = "help", .letter = 'h', .help = "show this help"},
    {.name = "help-serve",
     .help = "show every setting of evenkeel serve, which are options here, too"},
};
#define help_spec common_options[0]
#define help_serve_spec common_options[1]

/* An option as it stands on the command line, split at its '='. */
struct written {
    struct str name;
    const char *value; /* the text after '='; NULL: no '=' */
};

void options_init(struct options *o, const struct command *command, int argc, char **argv) {
    *o = (struct options){.command = command, .argc = argc, .argv = argv, .at = 1};
}

static void stop(struct options *o, int exit_status) {
    o->stopped = true;
    o->exit_status = exit_status;
}

void options_fail(struct options *o, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    (void)fprintf(stderr, "evenkeel %s: ", o->command->name); /* nowhere to report to */
    (void)vfprintf(stderr, fmt, args);
    (void)fprintf(stderr, "\nTry 'evenkeel %s --help'.\n", o->command->name);
    va_end(args);
    stop(o, EXIT_USAGE);
}

bool options_output_is_json(struct options *o, const char *text) {
    if (strcmp(text, "json") != 0 && strcmp(text, "table") != 0)
        options_fail(o, "unknown output format '%s'; use table or json", text);
    return strcmp(text, "json") == 0;
}

void options_read_duration(struct options *o, const char *name, const char *text, int64_t most_s,
                           int64_t *ret_ms) {
    const int64_t per_ms = 1000000;
    int64_t ns;
    struct err err;
    if (duration_parse(str_of(text), &ns, &err) != 0 || ns < per_ms || ns / per_ms > most_s * 1000)
        options_fail(o, "--%s: '%s' is not a duration of 1ms to %llds", name, text,
                     (long long)most_s);
    else
        *ret_ms = ns / per_ms;
}

/* ---- help ---- */

/* Appends words in lines of at most `room` characters; all lines but the first are indented. */
static void help_words(struct str text, int indent, size_t room, struct strbuf *out) {
    for (bool first = true; text.n > 0; first = false) {
        size_t n = text.n;
        if (n > room)
            for (n = room; n > 0 && text.p[n] != ' ';)
                n--;
        if (n == 0)
            n = text.n;
        strbuf_appendf(out, "%*s%.*s\n", first ? 0 : indent, "", (int)n, text.p);
        text = str_trim((struct str){text.p + n, text.n - n});
    }
}

static void help_option(const struct option_spec *spec, struct strbuf *out) {
    enum { LEFT = 32, INDENT = LEFT + 3, ROOM = 45 };
    CLEANUP(strbuf_done) struct strbuf left = {.max = 256};
    strbuf_appendf(&left, "%s%c%s --%s%s%s", spec->letter != 0 ? "-" : "  ",
                   spec->letter != 0 ? spec->letter : ' ', spec->letter != 0 ? "," : "", spec->name,
                   spec->value != NULL ? " " : "", spec->value != NULL ? spec->value : "");
    strbuf_appendf(out, "  %-*.*s ", LEFT, STR_ARG(strbuf_str(&left)));
    if (left.n > LEFT)
        strbuf_appendf(out, "\n%*s", INDENT, "");
    help_words(str_of(spec->help), INDENT, ROOM, out);
}

static void help_flag(const struct configuration_option *option, struct strbuf *out) {
    enum { INDENT = 10, ROOM = 70 };
    CLEANUP(strbuf_done) struct strbuf words = {.max = 4096};
    strbuf_appendf(out, "      --%s%s%s\n", option->flag, option->is_switch ? "" : " ",
                   option->is_switch ? "" : option->value_name);
    strbuf_appendf(&words, "%s%s", option->help, option->is_list ? " May be repeated." : "");
    if (option->default_text[0] != '\0')
        strbuf_appendf(&words, " (default %s)", option->default_text);
    strbuf_appendf(out, "%*s", INDENT, "");
    help_words(strbuf_str(&words), INDENT, ROOM, out);
}

/* Cuts off and returns the first word before a blank; "" after the last. */
static struct str next_word(struct str *words) {
    size_t blank = str_find(*words, ' ');
    struct str word = {words->p, blank == SIZE_MAX ? words->n : blank};
    *words = str_trim((struct str){words->p + word.n, words->n - word.n});
    return word;
}

static bool find_setting(struct str flag, struct configuration_option *ret) {
    for (size_t i = 0; configuration_option_at(i, ret); i++)
        if (ret->flag != NULL && str_eq(flag, str_of(ret->flag)))
            return true;
    return false;
}

static void help_first_flags(const char *flags, struct strbuf *out) {
    struct configuration_option option;
    struct str rest = str_of(flags);
    for (struct str flag; (flag = next_word(&rest)).n > 0;)
        if (find_setting(flag, &option))
            help_flag(&option, out);
}

static bool is_first(const char *flags, const char *flag) {
    struct str rest = str_of(flags);
    for (struct str first; (first = next_word(&rest)).n > 0;)
        if (str_eq(first, str_of(flag)))
            return true;
    return false;
}

/* Appends the flags that are not in `first`, below the heading of their task. */
static void help_other_flags(const char *first, struct strbuf *out) {
    const struct configuration_task *task;
    struct configuration_option option;
    for (size_t t = 0; (task = configuration_task_at(t)) != NULL; t++) {
        strbuf_appendf(out, "\n%s:\n", task->name);
        for (size_t i = 0; configuration_option_at(i, &option); i++)
            if (option.flag != NULL && configuration_task_of(option.path) == task &&
                !is_first(first, option.flag))
                help_flag(&option, out);
    }
}

const char *command_heading(const struct command *command, size_t index) {
    for (const struct option_heading *h = command->headings; h != NULL && h->text != NULL; h++)
        if (h->before == index)
            return h->text;
    return NULL;
}

/* Appends the options before the first heading, and the common options. Returns the index of the
 * first option below a heading. */
static size_t help_common_options(const struct command *command, struct strbuf *out) {
    size_t i = 0;
    for (; i < command->spec_count && command_heading(command, i) == NULL; i++)
        help_option(&command->specs[i], out);
    help_option(&help_spec, out);
    if (command->configuration_flags && !command->every_flag)
        help_option(&help_serve_spec, out);
    return i;
}

void command_help(const struct command *command, bool all_flags, struct strbuf *out) {
    const char *first = command->first_flags != NULL ? command->first_flags : "";
    strbuf_appendf(out, "Usage: evenkeel %s%s%s\n\n%s\n", command->name,
                   command->usage[0] != '\0' ? " " : "", command->usage, command->about);
    if (command->list != NULL)
        command->list(out);
    strbuf_appendf(out, "\nExample:\n%s\n\nOptions:\n", command->example);
    for (size_t i = help_common_options(command, out); i < command->spec_count; i++) {
        const char *heading = command_heading(command, i);
        if (heading != NULL)
            strbuf_appendf(out, "\n%s:\n", heading);
        help_option(&command->specs[i], out);
    }
    if (!command->configuration_flags)
        return;
    if (first[0] != '\0')
        strbuf_appendf(out, "\nOptions that override the configuration file%s:\n",
                       command->every_flag ? ", those first that most people need" : "");
    help_first_flags(first, out);
    if (command->every_flag || all_flags)
        help_other_flags(first, out);
}

static void show_help(struct options *o, bool all_flags) {
    CLEANUP(strbuf_done) struct strbuf out = {.max = 1 << 20};
    command_help(o->command, all_flags, &out);
    bool written =
        !strbuf_failed(&out) && fwrite(out.p, 1, out.n, stdout) == out.n && fflush(stdout) == 0;
    if (!written)
        (void)fprintf(stderr, "evenkeel %s: cannot write to standard output\n",
                      o->command->name); /* nowhere to report to */
    stop(o, written ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* ---- parsing ---- */

static bool is_letter_of(const struct option_spec *spec, const char *text) {
    return spec->letter != 0 && text[0] == '-' && text[1] == spec->letter;
}

static bool is_name_of(const struct command *command, struct str written, struct str name) {
    if (!command->underscores || written.n != name.n)
        return str_eq(written, name);
    for (size_t i = 0; i < name.n; i++)
        if (written.p[i] != name.p[i] && !(written.p[i] == '_' && name.p[i] == '-'))
            return false;
    return true;
}

static const struct option_spec *find_spec(const struct command *command, struct str name) {
    for (size_t i = 0; i < command->spec_count; i++)
        if (is_name_of(command, name, str_of(command->specs[i].name)))
            return &command->specs[i];
    if (command->configuration_flags && str_eq(name, str_of(help_serve_spec.name)))
        return &help_serve_spec;
    return str_eq(name, str_of(help_spec.name)) ? &help_spec : NULL;
}

static bool find_flag(const struct command *command, struct str name,
                      struct configuration_option *ret) {
    if (!command->configuration_flags)
        return false;
    if (find_setting(name, ret))
        return true;
    const struct configuration_removed *removed;
    for (size_t i = 0; (removed = configuration_removed_at(i)) != NULL; i++)
        if (removed->flag != NULL && str_eq(name, str_of(removed->flag))) {
            *ret = (struct configuration_option){.flag = removed->flag, .value_name = "VALUE"};
            return true;
        }
    return false;
}

static void unknown_option(struct options *o, const char *text) {
    struct str word = {text, strcspn(text, "=")};
    struct suggestion near = suggestion_for(word);
    for (size_t i = 0; i < o->command->spec_count; i++)
        suggestion_offer(&near, o->command->specs[i].name);
    suggestion_offer(&near, help_spec.name);
    struct configuration_option option;
    if (o->command->configuration_flags)
        for (size_t i = 0; configuration_option_at(i, &option); i++)
            if (option.flag != NULL)
                suggestion_offer(&near, option.flag);
    if (near.best != NULL)
        options_fail(o, "unknown option '%.*s'; did you mean --%s?", STR_ARG(word), near.best);
    else
        options_fail(o, "unknown option '%.*s'", STR_ARG(word));
}

/* Returns an option's value: the text after '=', or the next word; NULL if it is missing. */
static const char *take_value(struct options *o, const struct written *w, const char *value_name) {
    if (w->value != NULL)
        return w->value;
    if (o->at < o->argc && strncmp(o->argv[o->at], "--", 2) != 0)
        return o->argv[o->at++];
    options_fail(o, "option '--%.*s' needs a value: --%.*s %s", STR_ARG(w->name), STR_ARG(w->name),
                 value_name);
    return NULL;
}

static bool take_spec(struct options *o, const struct option_spec *spec, const struct written *w,
                      struct option_value *ret) {
    if (spec == &help_spec || spec == &help_serve_spec) {
        show_help(o, spec == &help_serve_spec);
    } else if (spec->value == NULL && w->value != NULL) {
        options_fail(o, "option '--%s' takes no value", spec->name);
    } else {
        ret->spec = spec;
        if (spec->value != NULL && spec->value[0] == '[')
            ret->text = w->value != NULL ? w->value : "true";
        else
            ret->text = spec->value != NULL ? take_value(o, w, spec->value) : NULL;
    }
    return !o->stopped;
}

static bool take_flag(struct options *o, const struct configuration_option *option,
                      const struct written *w, struct option_value *ret) {
    ret->flag = option->flag;
    if (option->is_switch)
        ret->text = w->value != NULL ? w->value : "true";
    else
        ret->text = take_value(o, w, option->value_name);
    return !o->stopped;
}

static bool take_letter(struct options *o, const char *text, struct option_value *ret) {
    const struct option_spec *spec = is_letter_of(&help_spec, text) ? &help_spec : NULL;
    for (size_t i = 0; spec == NULL && i < o->command->spec_count; i++)
        if (is_letter_of(&o->command->specs[i], text))
            spec = &o->command->specs[i];
    bool glued = text[1] != '\0' && text[2] != '\0'; /* -ojson, -o=json */
    const bool is_word = text[1] != '\0' && text[2] != '=' && strlen(text) > 6; /* -output */
    if (spec == NULL || (glued && (spec->value == NULL || is_word))) {
        unknown_option(o, text);
        return false;
    }
    struct written w = {.name = str_of(spec->name),
                        .value = glued ? text + 2 + (text[2] == '=') : NULL};
    return take_spec(o, spec, &w, ret);
}

bool options_next(struct options *o, struct option_value *ret) {
    *ret = (struct option_value){.text = NULL};
    if (o->stopped || o->at >= o->argc)
        return false;
    const char *text = o->argv[o->at++];
    if (!o->arguments_only && strcmp(text, "--") == 0) {
        o->arguments_only = true;
        return options_next(o, ret);
    }
    if (o->arguments_only || text[0] != '-' || text[1] == '\0') {
        ret->text = text;
        return true;
    }
    if (text[1] != '-')
        return take_letter(o, text, ret);
    const char *equals = strchr(text, '=');
    struct written w = {.name = {text + 2, strcspn(text + 2, "=")},
                        .value = equals != NULL ? equals + 1 : NULL};
    const struct option_spec *spec = find_spec(o->command, w.name);
    if (spec != NULL)
        return take_spec(o, spec, &w, ret);
    struct configuration_option option;
    if (find_flag(o->command, w.name, &option))
        return take_flag(o, &option, &w, ret);
    unknown_option(o, text);
    return false;
}

int options_configure(struct options *o, const char *path, struct configuration *c,
                      struct err *err) {
    if (path != NULL) {
        int r = configuration_read(c, path, err);
        if (r != 0)
            return r;
    }
    struct option_value v;
    struct err wrong;
    int r = 0;
    options_init(o, o->command, o->argc, o->argv);
    while (r == 0 && options_next(o, &v))
        if (v.flag != NULL)
            r = configuration_set_flag(c, v.flag, v.text, &wrong);
    if (r == -EINVAL)
        options_fail(o, "%s", wrong.text);
    if (r != 0)
        return err_set(err, r, "%s", wrong.text);
    return o->stopped ? err_set(err, -EINVAL, "the command line cannot be used") : 0;
}

/* ---- one source ---- */

enum { FROM_FILES = 1, FROM_KUBECONFIG = 2, FROM_CLUSTER = 4 };

/* Returns the sources of state that flags name, as bits. */
static unsigned named_sources(struct options *o, const struct configuration *c) {
    struct option_value v;
    unsigned named = 0;
    options_init(o, o->command, o->argc, o->argv);
    while (options_next(o, &v))
        if (v.flag != NULL)
            named |= strcmp(v.flag, "state") == 0        ? FROM_FILES
                     : strcmp(v.flag, "kubeconfig") == 0 ? FROM_KUBECONFIG
                     : strcmp(v.flag, "in-cluster") == 0 ? FROM_CLUSTER
                                                         : 0;
    return c->kubernetes.in_cluster ? named : named & ~(unsigned)FROM_CLUSTER;
}

int options_configure_source(struct options *o, const char *path, struct configuration *c,
                             struct err *err) {
    int r = options_configure(o, path, c, err);
    if (r != 0)
        return r;
    unsigned named = named_sources(o, c);
    if ((named & (named - 1)) != 0) {
        options_fail(o, "--state, --kubeconfig and --in-cluster exclude each other; keep one");
        return err_set(err, -EINVAL, "the command line cannot be used");
    }
    if ((named & (FROM_FILES | FROM_CLUSTER)) != 0)
        c->kubernetes.kubeconfig = c->kubernetes.context = NULL;
    if ((named & (FROM_FILES | FROM_KUBECONFIG)) != 0)
        c->kubernetes.in_cluster = false;
    if ((named & (FROM_KUBECONFIG | FROM_CLUSTER)) != 0)
        c->state.path_count = 0;
    return 0;
}

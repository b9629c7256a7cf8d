// libedit for Swift, which can't call functions with a variable number of arguments.
#include <histedit.h>
#include <stdio.h>
#include <wchar.h>

// An editor of the process's terminal; NULL where there is no memory for it.
static inline EditLine *storagekit_edit_open(const char *program) { return el_init(program, stdin, stdout, stderr); }

// What belongs to an editor, for its functions.
static inline void storagekit_edit_set_owner(EditLine *editor, void *owner) { el_set(editor, EL_CLIENTDATA, owner); }

static inline void *storagekit_edit_owner(EditLine *editor) {
    void *owner = NULL;
    el_get(editor, EL_CLIENTDATA, &owner);
    return owner;
}

// Emacs' keys, the history, and Tab; then what the user's ~/.editrc says. A signal is read as Ctrl-C, which gives up the line.
static inline void storagekit_edit_prepare(EditLine *editor, History *history_list, char *(*prompt)(EditLine *),
                                           unsigned char (*complete)(EditLine *, int),
                                           int (*read_key)(EditLine *, wchar_t *),
                                           unsigned char (*give_up)(EditLine *, int)) {
    el_set(editor, EL_EDITOR, "emacs");
    el_set(editor, EL_HIST, history, history_list);
    el_set(editor, EL_PROMPT, prompt);
    el_set(editor, EL_ADDFN, "storagekit-complete", "Complete the word at the cursor", complete);
    el_set(editor, EL_BIND, "\t", "storagekit-complete", NULL);
    el_set(editor, EL_BIND, "^R", "em-inc-search-prev", NULL);
    el_set(editor, EL_GETCFN, read_key);
    el_source(editor, NULL);
    el_set(editor, EL_ADDFN, "storagekit-give-up", "Give up the line", give_up);
    el_set(editor, EL_BIND, "^C", "storagekit-give-up", NULL);
}

// Restores the terminal's settings before the process stops.
static inline void storagekit_edit_suspend(EditLine *editor) { el_set(editor, EL_PREP_TERM, 0); }

// Switches the terminal to editing again, and redraws the line below what other programs have printed.
static inline void storagekit_edit_resume(EditLine *editor) {
    el_set(editor, EL_PREP_TERM, 1);
    el_set(editor, EL_REFRESH);
}

static inline void storagekit_history_limit(History *list, int count) {
    HistEvent event;
    history(list, &event, H_SETSIZE, count);
    history(list, &event, H_SETUNIQUE, 1);
}

static inline int storagekit_history_load(History *list, const char *path) {
    HistEvent event;
    return history(list, &event, H_LOAD, path);
}

static inline int storagekit_history_save(History *list, const char *path) {
    HistEvent event;
    return history(list, &event, H_SAVE, path);
}

static inline void storagekit_history_add(History *list, const char *line) {
    HistEvent event;
    history(list, &event, H_ENTER, line);
}

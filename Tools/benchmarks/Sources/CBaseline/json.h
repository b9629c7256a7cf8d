#ifndef CB_JSON_H
#define CB_JSON_H

#include <stdbool.h>
#include <stdint.h>

// A JSON reader that works inside the text it is given: a string is unescaped in place (it never gets longer)
// and ended with NUL where its closing quote was, so that reading allocates nothing. The text must be writable,
// end with NUL and outlive the values. It trusts the file to be JSON; a fault is reported, not explained.

typedef enum { CB_NULL, CB_INTEGER, CB_REAL, CB_TEXT } cb_value_kind;

/// A value as SQLite takes it. Booleans are integers; arrays and objects are their own JSON text.
typedef struct {
    union {
        int64_t integer;
        double real;
        const char *text;
    };
    /// Bytes of `text`.
    int32_t length;
    cb_value_kind kind;
} cb_value;

typedef struct {
    char *at;
    /// What was expected when the text turned out not to be JSON, or null.
    const char *fault;
} cb_json;

bool cb_json_open_object(cb_json *json);

/// Reads the name of the next member and the colon. False at the end of the object and on a fault.
bool cb_json_next_member(cb_json *json, cb_value *name);

bool cb_json_read_value(cb_json *json, cb_value *value);

#endif

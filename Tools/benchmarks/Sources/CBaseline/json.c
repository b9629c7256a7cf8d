#include "json.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static bool fail(cb_json *json, const char *expected) {
    if (!json->fault) json->fault = expected;
    return false;
}

static void skip_space(cb_json *json) {
    while (*json->at == ' ' || *json->at == '\t' || *json->at == '\r' || *json->at == '\n') json->at++;
}

// MARK: Strings

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/// Reads the four digits of a \u escape; -1 if they aren't there.
static int32_t read_code_unit(cb_json *json) {
    int32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(*json->at);
        if (digit < 0) return -1;
        unit = unit << 4 | digit;
        json->at++;
    }
    return unit;
}

static char *write_utf8(char *out, int32_t scalar) {
    if (scalar < 0x80) {
        *out++ = (char)scalar;
    } else if (scalar < 0x800) {
        *out++ = (char)(0xC0 | scalar >> 6);
        *out++ = (char)(0x80 | (scalar & 0x3F));
    } else if (scalar < 0x10000) {
        *out++ = (char)(0xE0 | scalar >> 12);
        *out++ = (char)(0x80 | (scalar >> 6 & 0x3F));
        *out++ = (char)(0x80 | (scalar & 0x3F));
    } else {
        *out++ = (char)(0xF0 | scalar >> 18);
        *out++ = (char)(0x80 | (scalar >> 12 & 0x3F));
        *out++ = (char)(0x80 | (scalar >> 6 & 0x3F));
        *out++ = (char)(0x80 | (scalar & 0x3F));
    }
    return out;
}

/// Writes the character of a \u escape, whose `\u` has been read; null if it isn't one.
static char *unescape_unicode(cb_json *json, char *out) {
    int32_t scalar = read_code_unit(json);
    if (scalar < 0 || (scalar >= 0xDC00 && scalar <= 0xDFFF)) return NULL;
    if (scalar >= 0xD800 && scalar <= 0xDBFF) {
        if (json->at[0] != '\\' || json->at[1] != 'u') return NULL;
        json->at += 2;
        int32_t low = read_code_unit(json);
        if (low < 0xDC00 || low > 0xDFFF) return NULL;
        scalar = 0x10000 + ((scalar - 0xD800) << 10) + (low - 0xDC00);
    }
    return write_utf8(out, scalar);
}

/// Writes the character of the escape after a backslash; null if there is no such escape.
static char *unescape(cb_json *json, char *out) {
    char c = *json->at++;
    switch (c) {
        case '"': case '\\': case '/': *out++ = c; return out;
        case 'b': *out++ = '\b'; return out;
        case 'f': *out++ = '\f'; return out;
        case 'n': *out++ = '\n'; return out;
        case 'r': *out++ = '\r'; return out;
        case 't': *out++ = '\t'; return out;
        case 'u': return unescape_unicode(json, out);
        default: return NULL;
    }
}

static bool read_string(cb_json *json, cb_value *value) {
    if (*json->at != '"') return fail(json, "a string");
    char *start = ++json->at;
    char *out = start;
    for (;;) {
        // Most of a string has no escape: move it in one piece.
        size_t plain = strcspn(json->at, "\"\\");
        if (out != json->at) memmove(out, json->at, plain);
        out += plain;
        json->at += plain;
        if (*json->at == '"') break;
        if (*json->at == '\0') return fail(json, "the end of a string");
        json->at++;
        out = unescape(json, out);
        if (!out) return fail(json, "an escape");
    }
    json->at++;
    *out = '\0';
    *value = (cb_value){.kind = CB_TEXT, .text = start, .length = (int32_t)(out - start)};
    return true;
}

// MARK: Other values

static bool read_number(cb_json *json, cb_value *value) {
    size_t length = strspn(json->at, "+-0123456789.eE");
    if (length == 0) return fail(json, "a value");
    bool is_real = strcspn(json->at, ".eE") < length;
    char *end;
    errno = 0;
    if (is_real) {
        *value = (cb_value){.kind = CB_REAL, .real = strtod(json->at, &end)};
    } else {
        *value = (cb_value){.kind = CB_INTEGER, .integer = strtoll(json->at, &end, 10)};
        if (errno == ERANGE) return fail(json, "an integer of 64 bits");
    }
    if (end != json->at + length) return fail(json, "a number");
    json->at = end;
    return true;
}

static bool read_literal(cb_json *json, const char *literal, cb_value meaning, cb_value *value) {
    size_t length = strlen(literal);
    if (strncmp(json->at, literal, length) != 0) return fail(json, literal);
    json->at += length;
    *value = meaning;
    return true;
}

/// Takes an array or object as it stands, by counting brackets outside strings.
static bool read_nested(cb_json *json, cb_value *value) {
    char *start = json->at;
    int depth = 0;
    bool in_string = false;
    for (; *json->at; json->at++) {
        char c = *json->at;
        if (in_string) {
            if (c == '\\' && json->at[1]) json->at++;
            if (c == '"') in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            json->at++;
            *value = (cb_value){.kind = CB_TEXT, .text = start, .length = (int32_t)(json->at - start)};
            return true;
        }
    }
    return fail(json, "the end of an array or object");
}

bool cb_json_read_value(cb_json *json, cb_value *value) {
    skip_space(json);
    switch (*json->at) {
        case '"': return read_string(json, value);
        case '{': case '[': return read_nested(json, value);
        case 'n': return read_literal(json, "null", (cb_value){.kind = CB_NULL}, value);
        case 't': return read_literal(json, "true", (cb_value){.kind = CB_INTEGER, .integer = 1}, value);
        case 'f': return read_literal(json, "false", (cb_value){.kind = CB_INTEGER, .integer = 0}, value);
        default: return read_number(json, value);
    }
}

// MARK: Objects

bool cb_json_open_object(cb_json *json) {
    skip_space(json);
    if (*json->at != '{') return fail(json, "an object");
    json->at++;
    return true;
}

bool cb_json_next_member(cb_json *json, cb_value *name) {
    skip_space(json);
    if (*json->at == ',') {
        json->at++;
        skip_space(json);
    }
    if (*json->at == '}') {
        json->at++;
        return false;
    }
    if (!read_string(json, name)) return false;
    skip_space(json);
    if (*json->at != ':') return fail(json, "a colon");
    json->at++;
    return true;
}

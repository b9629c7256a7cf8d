// The SQL functions of the engine, and the watch over statements that change the schema or end the transaction.
#include "capture_internal.h"

void capture_engine_function(sqlite3_context *context, int count, sqlite3_value **arguments) {
    (void)count, (void)arguments;
    storage_capture *capture = sqlite3_user_data(context);
    sqlite3_result_int(context, capture->engine);
}

void capture_write_guard_function(sqlite3_context *context, int count, sqlite3_value **arguments) {
    (void)count, (void)arguments;
    sqlite3_result_int(context, 1);
}

// Whether two values are equal bit for bit: IS treats 1 as equal to 1.0 and 0.0 to -0.0.
void capture_identical_function(sqlite3_context *context, int count, sqlite3_value **arguments) {
    (void)count;
    storage_value a = peek(arguments[0], 0, 0), b = peek(arguments[1], 0, 0);
    sqlite3_result_int(context, same(&a, &b));
}

// Skips to the first word as SQLite's parser does, for which a byte order mark is white space.
static const char *skip_comments(const char *sql) {
    for (;;) {
        while (*sql == ' ' || *sql == '\t' || *sql == '\n' || *sql == '\r' || *sql == '\f' || *sql == '\v' || *sql == ';')
            sql++;
        if (strncmp(sql, "\xef\xbb\xbf", 3) == 0) {
            sql += 3;
        } else if (sql[0] == '-' && sql[1] == '-') {
            while (*sql && *sql != '\n') sql++;
        } else if (sql[0] == '/' && sql[1] == '*') {
            const char *end = strstr(sql + 2, "*/");
            if (!end) return "";
            sql = end + 2;
        } else {
            return sql;
        }
    }
}

// After its transaction, a database in memory has no lock to refuse: its connection is made read-only.
static void bar_writing(storage_capture *capture) {
    capture->reads_only = 1;
    sqlite3_exec(capture->database, "PRAGMA query_only = 1", 0, 0, 0);
}

// Processes one change of the schema at a time, while the body of a commit makes them: after two of them, a renamed column can't
// be distinguished from a dropped and an added one.
static void look_at_schema(storage_capture *capture) {
    if (!capture->schema_callback || capture->looks_at_schema || capture->suppressed) return;
    capture->looks_at_schema = 1;
    if (capture->schema_callback(capture->schema_context) != 0) {
        // A change of its own, so that the error is undone with the savepoint in which the schema was changed.
        capture->change_count++;
        fail(capture, STORAGE_CAPTURE_UNKNOWN_COLUMNS, 0, 0);
    }
    capture->looks_at_schema = 0;
}

void storage_capture_look_at_schema(storage_capture *capture) {
    if (capture->schema_suspicion && capture->body.runs) look_at_schema(capture);
}

int capture_on_statement(unsigned kind, void *context, void *statement, void *text) {
    (void)kind;
    storage_capture *capture = context;
    capture->statement_count++;
    const char *sql = sqlite3_sql(statement);
    if (!sql) return 0;
    // Includes statements that a virtual table runs, whose trace text is a comment. A pragma without a value only reads, as
    // full-text indexes do frequently.
    if (strncasecmp(skip_comments(sql), "pragma", 6) == 0 && strpbrk(sql, "=(")) capture->set_pragma = 1;
    // A different text is a trigger's, whose statement was seen already.
    if (text != sql) return 0;
    if (capture->state == CAPTURE_ENDED && !capture->file && !capture->reads_only) bar_writing(capture);
    storage_capture_look_at_schema(capture);
    if (sqlite3_stmt_readonly(statement)) return 0;
    sql = skip_comments(sql);
    if (strncasecmp(sql, "alter", 5) == 0 || strncasecmp(sql, "create", 6) == 0 || strncasecmp(sql, "drop", 4) == 0) {
        capture->schema_suspicion = 1;
        if (capture->body.runs && !capture->engine) capture->body_changed_schema = 1;
    }
    return 0;
}

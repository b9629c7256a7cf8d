#ifndef CB_STORE_H
#define CB_STORE_H

#include <sqlite3.h>

#include "CBaseline.h"

struct cb_store {
    sqlite3 *connection;
    char *error;
};

/// Keeps the first error, with what was being done. Always returns false.
bool cb_store_fail(cb_store *store, const char *doing);

bool cb_store_execute(cb_store *store, const char *sql);

/// Runs the text of a builder and frees it.
bool cb_store_execute_built(cb_store *store, sqlite3_str *builder);

/// The prepared statement, or null after an error.
sqlite3_stmt *cb_store_prepare(cb_store *store, const char *sql);

/// Runs a statement that returns no row and makes it ready for the next binding.
bool cb_store_step(cb_store *store, sqlite3_stmt *statement);

/// Commits, or rolls back when the work inside the transaction failed. Returns whether it was committed.
bool cb_store_end_transaction(cb_store *store, bool succeeded);

#endif

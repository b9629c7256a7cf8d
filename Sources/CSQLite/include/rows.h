// Read-only virtual tables whose rows are those of a statement that is prepared for each search.
#ifndef STORAGEKIT_ROWS_H
#define STORAGEKIT_ROWS_H

#include <sqlite3.h>

// The result of a search: the statement that returns the rows, of any connection, and an object that keeps it alive. The
// statement's first column is the rowid.
typedef struct {
    sqlite3_stmt *statement;
    void *owner;
} storage_search;

// The source of the rows. Functions that return a code return an SQLite result code, and set a message of storage_message() with
// one that isn't SQLITE_OK.
typedef struct {
    // Connects a table: the one with the number that CREATE VIRTUAL TABLE names first.
    void *(*connect)(void *source, int number);
    void (*disconnect)(void *table);
    // Chooses conditions of a query, as xBestIndex does; idxNum is its own.
    int (*plan)(void *table, sqlite3_index_info *info, char **message);
    // Searches for the rows of a plan.
    int (*search)(
        void *table, int plan, int count, sqlite3_value **values, storage_search *found, char **message
    );
    // Releases the result of a search. The statement isn't used any longer.
    void (*release)(void *owner);
    // Called when the connection no longer has the module or a table of it.
    void (*destroy)(void *source);
} storage_row_source;

// Registers the module with a connection. Create a table of it by
//
//     CREATE VIRTUAL TABLE temp.name USING module(number, column definition, …)
int storage_create_row_module(
    sqlite3 *database, const char *name, const storage_row_source *callbacks, void *source
);

// A copy of a text that SQLite frees; NULL if there is no memory.
char *storage_message(const char *text);

#endif

// Virtual tables that are read-only, and whose rows are those of a statement that is prepared for each search.
#ifndef STORAGEKIT_ROWS_H
#define STORAGEKIT_ROWS_H

#include <sqlite3.h>

// What a search has found: the statement that gives the rows, of any connection, and whatever keeps it alive. The statement's first
// column is the rowid.
typedef struct {
    sqlite3_stmt *statement;
    void *owner;
} storage_search;

// Where the rows come from. Those that return a code return an SQLite result code, and leave a message of storage_message() with one
// that isn't SQLITE_OK.
typedef struct {
    // A table: the one with the number that CREATE VIRTUAL TABLE names first.
    void *(*connect)(void *source, int number);
    void (*disconnect)(void *table);
    // Chooses among the conditions of a query, as xBestIndex does; idxNum is its own.
    int (*plan)(void *table, sqlite3_index_info *info, char **message);
    // Looks for the rows of a plan.
    int (*search)(
        void *table, int plan, int count, sqlite3_value **values, storage_search *found, char **message
    );
    // Gives back what a search has found. The statement isn't used any more.
    void (*release)(void *owner);
    // The connection doesn't know the module any more, and has no table of it.
    void (*destroy)(void *source);
} storage_row_source;

// Makes the module known to a connection. A table of it is made by
//
//     CREATE VIRTUAL TABLE temp.name USING module(number, column definition, …)
int storage_create_row_module(
    sqlite3 *database, const char *name, const storage_row_source *callbacks, void *source
);

// A copy of a text that SQLite frees; NULL where there is no memory.
char *storage_message(const char *text);

#endif

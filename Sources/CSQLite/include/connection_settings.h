// Settings of SQLite whose calls are variadic.
#ifndef STORAGEKIT_CONNECTION_SETTINGS_H
#define STORAGEKIT_CONNECTION_SETTINGS_H

#include <sqlite3.h>

// Settings of the whole process. Before its first use of SQLite: no accounting of SQLite's memory, which takes a lock around every
// allocation. At any time, for connections opened later: storage_keep_savepoints_in_memory().
void storage_configure_process(void);

// Makes SQLite's default VFS keep the pages that a savepoint or a statement may have to restore in memory, not in a temporary file. All
// other files are those of the system. Does nothing if the default VFS isn't one of SQLite's own for Unix.
void storage_keep_savepoints_in_memory(void);

// Switches of sqlite3_db_config, which is variadic. Each returns an SQLite result code.
int storage_disable_checkpoint_on_close(sqlite3 *database);
int storage_set_triggers_enabled(sqlite3 *database, int enabled);
// Unlike the pragma, this works inside a transaction. Violations that arise meanwhile aren't counted: code that disables foreign
// keys has to check for them before the transaction ends.
int storage_set_foreign_keys_enabled(sqlite3 *database, int enabled);
int storage_set_trusted_schema(sqlite3 *database, int trusted);
int storage_set_defensive(sqlite3 *database, int defensive);
// Whether a name in double quotes that is no column's is read as text.
int storage_set_double_quoted_texts(sqlite3 *database, int allowed);

#endif

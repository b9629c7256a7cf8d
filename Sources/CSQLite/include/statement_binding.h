// Stepping statements and binding bytes, which requires casts that Swift can't make.
#ifndef STORAGEKIT_STATEMENT_BINDING_H
#define STORAGEKIT_STATEMENT_BINDING_H

#include <stddef.h>
#include <sqlite3.h>

// Steps a statement, unless a call below has failed on this thread since the last step: a value that couldn't be bound, for lack
// of memory or because it is too large, would be NULL. In that case, returns the failed call's result code.
int storage_step(sqlite3_stmt *statement);

// Binds a copy of the bytes (SQLITE_TRANSIENT is a cast, which Swift doesn't import).
int storage_bind_text(sqlite3_stmt *statement, int index, const void *bytes, size_t size);
int storage_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, size_t size);

// Binds bytes that the caller keeps alive and unchanged until the statement is reset.
int storage_bind_text_borrowed(sqlite3_stmt *statement, int index, const void *bytes, size_t size);
int storage_bind_blob_borrowed(sqlite3_stmt *statement, int index, const void *bytes, size_t size);

#endif
